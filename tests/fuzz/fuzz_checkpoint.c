/* SPDX-License-Identifier: Apache-2.0 */
/* Loads whatever it is given as a .max checkpoint. What was one is saved and loaded again, and is a model's weights. */
#include "fuzz.h"

static MaxSession* session;

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  session = openSession();
  return 0;
}

/* As a file of weights, which has a name for its tensor. */
static void loadWeights(const char* path, const MaxBuffer* buffer) {
  MaxWeights* weights = NULL;
  const char* name = NULL;
  int32_t count = 0;
  const MaxStatus status = maxWeightsLoad(path, &weights);
  if (status != MAX_STATUS_OK) checkFailure(status);
  check((status == MAX_STATUS_OK) == (buffer != NULL));
  if (weights) {
    check(maxWeightsGetCount(weights, &count) == MAX_STATUS_OK && count == 1);
    check(maxWeightsGetName(weights, 0, &name) == MAX_STATUS_OK);
    saveBuffer(buffer, name);
  }
  maxWeightsRelease(weights);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  char path[64];
  const int file = openMemoryFile(data, size, path);
  MaxBuffer* buffer = NULL;
  const MaxStatus status = maxBufferLoad(path, &buffer);
  check((status == MAX_STATUS_OK) == (buffer != NULL));
  if (buffer)
    saveBuffer(buffer, NULL);
  else
    checkFailure(status);
  if (buffer) {
    loadWeights(path, buffer);
    useWeights(session, path);
  }
  maxBufferRelease(buffer);
  check(close(file) == 0);
  check(liveObjects() == before);
  return 0;
}
