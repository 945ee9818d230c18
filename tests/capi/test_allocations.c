/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with shapes that were seen before allocate nothing: this program counts what malloc is asked for. */
#include "count_allocations.h"
#include "models.h"

/* What 100 calls allocate. */
static long allocations_of_calls(MaxModel* model, int32_t input_count, MaxBuffer* const* inputs) {
  const long before = atomic_load(&allocations);
  for (int i = 0; i < 100; ++i) {
    MaxBuffer* output = NULL;
    CHECK(maxModelExecute(model, inputs, input_count, NULL, &output, 1));
    maxBufferRelease(output);
  }
  return atomic_load(&allocations) - before;
}

/* A thread of the pool takes memory of its own when it first helps, which may be late. The model is released. */
static void expect_none(MaxModel* model, const char* name, int32_t input_count, MaxBuffer* const* inputs) {
  long made = allocations_of_calls(model, input_count, inputs);
  for (int again = 0; again < 20 && (again == 0 || made != 0); ++again)
    made = allocations_of_calls(model, input_count, inputs);
  maxModelRelease(model);
  if (CAN_COUNT && made != 0) fail_msg("%ld allocations in 100 calls of %s", made, name);
}

static void expect_no_allocations(const char* path, int32_t input_count, MaxBuffer* const* inputs) {
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, path, NULL, &model));
  maxSessionRelease(session);
  expect_none(model, path, input_count, inputs);
}

static void counting_works(void** state) {
  (void)state;
  const long before = atomic_load(&allocations);
  void* volatile block = malloc(100);
  free(block);
  if (CAN_COUNT) assert_true(atomic_load(&allocations) > before);
}

static void identity_allocates_nothing(void** state) {
  (void)state;
  const int64_t shape = 10;
  MaxDevice* cpu = open_cpu();
  MaxBuffer* input = new_buffer(cpu, MAX_DTYPE_FLOAT32, 1, &shape);
  memset(data_of(input), 0, 40);
  expect_no_allocations(MAX_TEST_DATA "/models/identity.onnx", 1, &input);
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
}

/* Nor do calls on arrays of the host, and calls by name. */
static void other_calls_allocate_nothing(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, MAX_TEST_DATA "/models/add.onnx", NULL, &model));
  maxSessionRelease(session);
  const float values[6] = {0};
  const int64_t shape[] = {2, 3}, *shapes[] = {shape, shape};
  const void* data[] = {values, values};
  const MaxDType dtypes[] = {MAX_DTYPE_FLOAT32, MAX_DTYPE_FLOAT32};
  const int32_t ranks[] = {2, 2};
  const char *const inputNames[] = {"b", "a"}, *const outputName = "difference";
  MaxBuffer *inputs[] = {new_floats(2, shape, 1), new_floats(2, shape, 1)}, *outputs[2] = {NULL, NULL};
  long before = 0;
  for (int i = 0; i < 110; ++i) {
    if (i == 10) before = atomic_load(&allocations);
    CHECK(maxModelExecuteHost(model, data, dtypes, ranks, shapes, 2, NULL, outputs, 2));
    maxBufferRelease(outputs[0]);
    maxBufferRelease(outputs[1]);
    CHECK(maxModelExecuteByName(model, inputNames, inputs, 2, NULL, &outputName, outputs, 1));
    maxBufferRelease(outputs[0]);
  }
  const long made = atomic_load(&allocations) - before;
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
  if (CAN_COUNT && made != 0) fail_msg("%ld allocations in 200 calls", made);
}

static void a_network_allocates_nothing(void** state) {
  (void)state;
  const int64_t shape[] = {16, 1, 8, 8};
  MaxDevice* cpu = open_cpu();
  MaxBuffer* input = new_buffer(cpu, MAX_DTYPE_FLOAT32, 4, shape);
  memset(data_of(input), 0, sizeof(float) * 16 * 64);
  expect_no_allocations(MAX_TEST_DATA "/../../examples/digits/digits.onnx", 1, &input);
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
}

static void a_branch_allocates_nothing(void** state) {
  (void)state;
  const int64_t shape = 10;
  MaxDevice* cpu = open_cpu();
  MaxBuffer* inputs[] = {new_buffer(cpu, MAX_DTYPE_BOOL, 0, NULL), new_buffer(cpu, MAX_DTYPE_FLOAT32, 1, &shape)};
  memset(data_of(inputs[0]), 1, 1);
  memset(data_of(inputs[1]), 0, 40);
  expect_no_allocations(MAX_TEST_DATA "/models/branch.onnx", 2, inputs);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxDeviceRelease(cpu);
}

static long allocations_of(const MaxModel* model, int64_t trips, int32_t outputs) {
  MaxDevice* cpu = open_cpu();
  MaxBuffer* inputs[] = {new_buffer(cpu, MAX_DTYPE_INT64, 0, NULL), new_floats(1, (const int64_t[]){1}, 1),
                         new_floats(1, (const int64_t[]){1}, 0)};
  *(int64_t*)data_of(inputs[0]) = trips;
  long made = 0;
  for (int i = 0; i < 3; ++i) {
    const long before = atomic_load(&allocations);
    MaxBuffer* results[2] = {NULL, NULL};
    CHECK(maxModelExecute(model, inputs, 3, NULL, results, outputs));
    made = atomic_load(&allocations) - before;
    assert_float_equal(first_of(results[0]), (float)trips, 0);
    for (int k = 0; k < 2; ++k) maxBufferRelease(results[k]);
  }
  for (int i = 0; i < 3; ++i) maxBufferRelease(inputs[i]);
  maxDeviceRelease(cpu);
  return made;
}

/* Iterations allocate nothing, but for stacks that double their memory. */
static void iterations_allocate_nothing(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  for (int stacks = 0; stacks <= 1; ++stacks) {
    MaxModel* model = new_loop(session, stacks);
    const long few = allocations_of(model, 100, 1 + stacks), many = allocations_of(model, 1600, 1 + stacks);
    if (CAN_COUNT) assert_in_range(many - few, 0, stacks ? 20 : 0);
    maxModelRelease(model);
  }
  maxSessionRelease(session);
}

/* After the first one of its kind: buffers and values as arguments, in the calling thread and in a queue. */
static void launches_allocate_nothing(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  MaxStream* stream = NULL;
  CHECK(maxModuleCompile(device, "extern \"C\" __global__ void add(float* x, float y) { x[threadIdx.x] += y; }", NULL,
                         NULL, &module));
  CHECK(maxModuleGetKernel(module, "add", &kernel));
  CHECK(maxStreamCreate(device, NULL, &stream));
  MaxBuffer* x = new_vector(8, 0.0f);
  const float y = 1.0f;
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.block[0] = 8;
  long before = 0;
  for (int i = 0; i < 110; ++i) {
    if (i == 10) before = atomic_load(&allocations);
    for (int j = 0; j < 2; ++j)
      CHECK(maxKernelLaunch(kernel, &config, (const void*[]){x, &y},
                            (const size_t[]){MAX_KERNEL_ARGUMENT_BUFFER, sizeof y}, 2, j ? stream : NULL));
    CHECK(maxStreamSynchronize(stream, 0));
  }
  const long made = atomic_load(&allocations) - before;
  assert_true(((const float*)data_of(x))[7] == 227.0f);
  maxBufferRelease(x);
  maxStreamRelease(stream);
  maxModuleRelease(module);
  maxDeviceRelease(device);
  if (CAN_COUNT && made != 0) fail_msg("%ld allocations in 200 launches", made);
}

/* What the library does around an operator of an extension, and what it does for a kernel that a source declares. */
static void operators_of_extensions_allocate_nothing(void** state) {
  (void)state;
  static const char* const files[] = {MAX_EXTENSION_LIBRARY, MAX_EXTENSION_KERNELS};
  static const char* const names[] = {"Softsign", "AddScaled"};
  const int64_t shape[] = {-1};
  for (size_t i = 0; i < COUNT_OF(files); ++i) {
    MaxSession* session = new_session(0);
    CHECK(maxExtensionLoad(files[i]));
    MaxGraph* graph = new_graph("extension");
    MaxGraphValue* values[] = {add_input(graph, "a", MAX_DTYPE_FLOAT32, 1, shape),
                               add_input(graph, "b", MAX_DTYPE_FLOAT32, 1, shape)};
    MaxGraphValue* output = NULL;
    CHECK(maxGraphAddNode(graph, "example", names[i], "it", values, (int32_t)i + 1, NULL, &output, 1));
    CHECK(maxGraphAddOutput(graph, output, "y"));
    MaxModel* model = compile(session, graph);
    maxSessionRelease(session);
    MaxBuffer* inputs[] = {new_vector(1000, 1), new_vector(1000, 1)};
    expect_none(model, names[i], 2, inputs);
    maxBufferRelease(inputs[0]);
    maxBufferRelease(inputs[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(counting_works),
      TEST(launches_allocate_nothing),
      TEST(identity_allocates_nothing),
      TEST(other_calls_allocate_nothing),
      TEST(a_network_allocates_nothing),
      TEST(a_branch_allocates_nothing),
      TEST(iterations_allocate_nothing),
      TEST(operators_of_extensions_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
