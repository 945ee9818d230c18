/* SPDX-License-Identifier: Apache-2.0 */
/* Loads whatever it is given as a model, and runs it on small inputs: parser, importer, shape rules, folding, passes
 * and kernels must answer with results or a status, in bounded time and memory, and leave nothing behind. */
#include "fuzz.h"

static MaxSession* session;

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  session = openSession();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  MaxModel* model = NULL;
  const MaxStatus status = maxModelLoadFromMemory(session, data, size, NULL, &model);
  finishModel(status, model, size);
  check(liveObjects() == before);
  return 0;
}
