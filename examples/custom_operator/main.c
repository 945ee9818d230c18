/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model that uses the operators of an extension: custom_operator EXTENSION MODEL */
#include <max/max.h>
#include <stdio.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, maxGetLastErrorMessage());
  return 1;
}

static int print_floats(const MaxBuffer* buffer) {
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  const void* data = NULL;
  if (maxBufferGetInfo(buffer, &info) != MAX_STATUS_OK || maxBufferGetData(buffer, &data) != MAX_STATUS_OK)
    return failed("read");
  for (int64_t i = 0; i < info.elementCount; ++i) printf("%s%.3f", i ? " " : "", (double)((const float*)data)[i]);
  puts("");
  return 0;
}

static int run(const MaxModel* model) {
  static float numbers[] = {-2, -1, 0, 1, 2, 3};
  static const int64_t shape[] = {6};
  MaxDevice* cpu = NULL;
  MaxBuffer *input = NULL, *output = NULL;
  int result = 1;
  if (maxDeviceCreate("cpu", -1, NULL, &cpu) != MAX_STATUS_OK ||
      maxBufferWrap(cpu, numbers, MAX_DTYPE_FLOAT32, 1, shape, NULL, &input) != MAX_STATUS_OK ||
      maxModelExecute(model, &input, 1, NULL, &output, 1) != MAX_STATUS_OK)
    (void)failed("run");
  else
    result = print_floats(output);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
  return result;
}

int main(int argc, char** argv) {
  MaxSession* session = NULL;
  MaxModel* model = NULL;
  int result = 1;
  if (argc != 3) {
    fprintf(stderr, "usage: %s EXTENSION MODEL\n", argv[0]);
    return 2;
  }
  if (maxSessionCreate(NULL, &session) != MAX_STATUS_OK || maxExtensionLoad(argv[1]) != MAX_STATUS_OK ||
      maxModelLoad(session, argv[2], NULL, &model) != MAX_STATUS_OK)
    (void)failed("load");
  else
    result = run(model);
  maxModelRelease(model);
  maxSessionRelease(session);
  return result;
}
