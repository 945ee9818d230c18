/* SPDX-License-Identifier: Apache-2.0 */
/* Opens whatever it is given as a .safetensors file. Its tensors are saved one by one, and are a model's weights. */
#include "fuzz.h"

#define SAVED_TENSORS 4

static MaxSession* session;

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  session = openSession();
  return 0;
}

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
    if (i < SAVED_TENSORS) saveBuffer(buffer, name);
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
  if (weights) useWeights(session, path);
  maxWeightsRelease(weights);
  check(close(file) == 0);
  check(liveObjects() == before);
  return 0;
}
