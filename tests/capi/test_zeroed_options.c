/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is zero but for its size is a valid value of every options structure, and of every report to be filled.
 */
#include "check.h"
#include "dlpack_declarations.h"
#include "models.h"

/* As a language without the INIT macros makes it. */
static void* zeroed(size_t size) {
  void* options = calloc(1, size);
  assert_non_null(options);
  memcpy(options, &size, sizeof size);
  return options;
}

#define ZEROED(type, name) type* name = zeroed(sizeof(type))

static void test_devices_streams_events(void** state) {
  (void)state;
  ZEROED(MaxDeviceOptions, device_options);
  ZEROED(MaxStreamOptions, stream_options);
  ZEROED(MaxEventOptions, event_options);
  ZEROED(MaxDeviceStats, stats);
  MaxDevice* device = NULL;
  MaxStream* stream = NULL;
  MaxEvent* event = NULL;
  CHECK(maxDeviceCreate("cpu", 0, device_options, &device));
  CHECK(maxStreamCreate(device, stream_options, &stream));
  CHECK(maxEventCreate(device, event_options, &event));
  CHECK(maxStreamRecordEvent(stream, event));
  CHECK(maxDeviceGetStats(device, stats));
  assert_true((stats->validMask & MAX_DEVICE_STATS_TOTAL_MEMORY) && stats->totalMemory > 0);
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
  free(device_options);
  free(stream_options);
  free(event_options);
  free(stats);
}

static void test_buffers(void** state) {
  (void)state;
  static int32_t memory[] = {1, 2, 3, 4};
  ZEROED(MaxBufferOptions, options);
  ZEROED(MaxBufferWrapOptions, wrap_options);
  ZEROED(MaxBufferCopyOptions, copy_options);
  ZEROED(MaxBufferInfo, info);
  const int64_t shape[] = {4};
  MaxDevice* device = open_cpu();
  MaxBuffer *made = NULL, *wrapped = NULL, *copy = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_INT32, 1, shape, options, &made));
  CHECK(maxBufferWrap(device, memory, MAX_DTYPE_INT32, 1, shape, wrap_options, &wrapped));
  CHECK(maxBufferClone(wrapped, NULL, copy_options, &copy));
  assert_int_equal(((const int32_t*)data_of(copy))[3], 4);
  CHECK(maxBufferGetInfo(made, info));
  assert_int_equal(info->elementCount, 4);
  maxBufferRelease(copy);
  maxBufferRelease(wrapped);
  maxBufferRelease(made);
  maxDeviceRelease(device);
  free(options);
  free(wrap_options);
  free(copy_options);
  free(info);
}

static void test_dlpack(void** state) {
  (void)state;
  ZEROED(MaxDlpackOptions, options);
  ZEROED(MaxDlpackExportOptions, export_options);
  MaxBuffer *buffer = new_vector(3, 1), *again = NULL;
  struct DLManagedTensorVersioned* tensor = NULL;
  CHECK(maxBufferToDlpack(buffer, export_options, &tensor));
  CHECK(maxBufferFromDlpack(tensor, options, &again));
  assert_ptr_equal(data_of(again), data_of(buffer));
  maxBufferRelease(again);
  maxBufferRelease(buffer);
  free(options);
  free(export_options);
}

static void test_sessions_and_models(void** state) {
  (void)state;
  ZEROED(MaxSessionOptions, session_options);
  ZEROED(MaxModelLoadOptions, load_options);
  ZEROED(MaxGraphInputOptions, input_options);
  ZEROED(MaxModelExecuteOptions, options);
  ZEROED(MaxModelMemory, model_memory);
  ZEROED(MaxModelDeviceMemory, device_memory);
  ZEROED(MaxSessionMemory, session_memory);
  ZEROED(MaxTensorInfo, info);
  MaxSession* session = NULL;
  MaxModel* model = NULL;
  CHECK(maxSessionCreate(session_options, &session));
  MaxGraph* graph = new_graph("twice");
  MaxGraphValue* x = NULL;
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}, input_options, &x));
  CHECK(maxGraphAddOutput(graph, add_node(graph, "Add", "twice", x, x), "y"));
  CHECK(maxModelCompile(session, graph, load_options, &model));
  maxGraphRelease(graph);
  MaxBuffer *input = new_vector(3, 1), *output = NULL;
  CHECK(maxModelExecute(model, &input, 1, options, &output, 1));
  assert_true(((const float*)data_of(output))[2] == 6);
  CHECK(maxModelGetMemory(model, model_memory));
  assert_true(model_memory->total > 0);
  CHECK(maxModelGetDeviceMemory(model, NULL, device_memory));
  assert_true(device_memory->total >= device_memory->arenas);
  CHECK(maxSessionGetMemory(session, session_memory));
  assert_int_equal(session_memory->structSize, sizeof *session_memory);
  CHECK(maxModelGetInput(model, 0, info));
  assert_string_equal(info->name, "x");
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
  free(session_options);
  free(load_options);
  free(input_options);
  free(options);
  free(model_memory);
  free(device_memory);
  free(session_memory);
  free(info);
}

static void test_modules_and_kernels(void** state) {
  (void)state;
  ZEROED(MaxModuleOptions, options);
  ZEROED(MaxLaunchConfig, config);
  MaxDevice* device = open_cpu();
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  int32_t value = 0;
  int32_t* address = &value;
  CHECK(maxModuleCompile(device, "extern \"C\" __global__ void put(int* out) { *out = 4; }", NULL, options, &module));
  CHECK(maxModuleGetKernel(module, "put", &kernel));
  CHECK(maxKernelLaunch(kernel, config, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(value, 4);
  maxModuleRelease(module);
  maxDeviceRelease(device);
  free(options);
  free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_devices_streams_events), TEST(test_buffers), TEST(test_dlpack), TEST(test_sessions_and_models),
      TEST(test_modules_and_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
