/* SPDX-License-Identifier: Apache-2.0 */
/* Opens whatever it is given as a .safetensors file. */
#include "fuzz.h"

static void readAll(const MaxWeights* weights, size_t size) {
  int32_t count = 0;
  size_t all = 0;
  check(maxWeightsGetCount(weights, &count) == MAX_STATUS_OK);
  for (int32_t i = 0; i < count; ++i) {
    const char* name = NULL;
    MaxBuffer* buffer = NULL;
    const void* data = NULL;
    MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
    int32_t found = -1;
    check(maxWeightsGetName(weights, i, &name) == MAX_STATUS_OK);
    /* A name may hold a NUL, which ends it for C; then the tensor may hide behind another. */
    if (maxWeightsFind(weights, name, &found) == MAX_STATUS_OK) check(found >= 0 && found < count);
    check(maxWeightsGetBuffer(weights, i, &buffer) == MAX_STATUS_OK);
    check(maxBufferGetInfo(buffer, &info) == MAX_STATUS_OK && info.byteCount <= size);
    check(maxBufferGetData(buffer, &data) == MAX_STATUS_OK);
    for (size_t k = 0; k < info.byteCount; ++k) all += ((const unsigned char*)data)[k];
  }
  check(all <= 255 * size * (size_t)count);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  char path[64];
  const int file = openMemoryFile(data, size, path);
  MaxWeights* weights = NULL;
  const MaxStatus status = maxWeightsLoad(path, &weights);
  check((status == MAX_STATUS_OK) == (weights != NULL));
  if (weights)
    readAll(weights, size);
  else
    checkFailure(status);
  maxWeightsRelease(weights);
  check(close(file) == 0);
  check(liveObjects() == before);
  return 0;
}
