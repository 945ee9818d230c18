/* SPDX-License-Identifier: Apache-2.0 */
/* Loads whatever it is given as a .max checkpoint, and saves and loads again what was one. */
#include "fuzz.h"

static void saveAndLoad(const MaxBuffer* buffer) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/max-fuzz-%d.max", (int)getpid());
  MaxBuffer* again = NULL;
  check(maxBufferSave(buffer, path, NULL) == MAX_STATUS_OK);
  check(maxBufferLoad(path, &again) == MAX_STATUS_OK);
  check(unlink(path) == 0);
  const void* data[2] = {NULL, NULL};
  MaxBufferInfo infos[2] = {MAX_BUFFER_INFO_INIT, MAX_BUFFER_INFO_INIT};
  check(maxBufferGetData(buffer, &data[0]) == MAX_STATUS_OK && maxBufferGetData(again, &data[1]) == MAX_STATUS_OK);
  check(maxBufferGetInfo(buffer, &infos[0]) == MAX_STATUS_OK && maxBufferGetInfo(again, &infos[1]) == MAX_STATUS_OK);
  const size_t bytes = infos[0].byteCount;
  check(bytes == infos[1].byteCount && (bytes == 0 || memcmp(data[0], data[1], bytes) == 0));
  maxBufferRelease(again);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  char path[64];
  const int file = openMemoryFile(data, size, path);
  MaxBuffer* buffer = NULL;
  const MaxStatus status = maxBufferLoad(path, &buffer);
  check((status == MAX_STATUS_OK) == (buffer != NULL));
  if (buffer)
    saveAndLoad(buffer);
  else
    checkFailure(status);
  maxBufferRelease(buffer);
  check(close(file) == 0);
  check(liveObjects() == before);
  return 0;
}
