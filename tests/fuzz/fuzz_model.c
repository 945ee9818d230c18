/* SPDX-License-Identifier: Apache-2.0 */
/* Loads whatever it is given as a model: parser, importer, shape rules, folding and passes must answer with a
 * model or a status, in bounded time and memory, and leave nothing behind. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "max/experimental.h"
#include "max/max.h"

static MaxSession* session;

static void check(int condition) {
  if (!condition) abort();
}

static int64_t liveObjects(void) {
  int64_t count = 0;
  check(maxExperimentalGetLiveObjectCount(&count) == MAX_STATUS_OK);
  return count;
}

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.numThreads = 1;
  check(maxSessionCreate(&options, &session) == MAX_STATUS_OK);
  return 0;
}

static void readMetadata(const MaxModel* model) {
  int32_t count = 0;
  check(maxModelGetInputCount(model, &count) == MAX_STATUS_OK);
  for (int32_t i = 0; i < count; ++i) {
    const char* name = NULL;
    int32_t found = -1;
    check(maxModelGetInputName(model, i, &name) == MAX_STATUS_OK);
    check(maxModelFindInput(model, name, &found) == MAX_STATUS_OK);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  MaxModel* model = NULL;
  const MaxStatus status = maxModelLoadFromMemory(session, data, size, NULL, &model);
  check((status == MAX_STATUS_OK) == (model != NULL));
  check(status != MAX_STATUS_INTERNAL && status != MAX_STATUS_UNKNOWN);
  if (model)
    readMetadata(model);
  else
    check(maxGetLastErrorMessage()[0] != '\0');
  maxModelRelease(model);
  check(liveObjects() == before);
  return 0;
}
