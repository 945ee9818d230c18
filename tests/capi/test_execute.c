/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on arrays of the host, and with inputs and outputs by name. */
#include "models.h"

#define MODEL(name) MAX_TEST_DATA "/models/" name ".onnx"

static MaxModel* load(const char* path) {
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, path, NULL, &model));
  maxSessionRelease(session);
  return model;
}

/* The inputs of add.onnx, float32[batch, 3] both; its outputs are sum and difference. */
struct arrays {
  float a[6], b[6];
  int64_t shape[2];
  const void* data[2];
  MaxDType dtypes[2];
  int32_t ranks[2];
  const int64_t* shapes[2];
};

static void fill(struct arrays* arrays) {
  for (int i = 0; i < 6; ++i) {
    arrays->a[i] = (float)i;
    arrays->b[i] = 10;
  }
  arrays->shape[0] = 2;
  arrays->shape[1] = 3;
  for (int i = 0; i < 2; ++i) {
    arrays->data[i] = i ? arrays->b : arrays->a;
    arrays->dtypes[i] = MAX_DTYPE_FLOAT32;
    arrays->ranks[i] = 2;
    arrays->shapes[i] = arrays->shape;
  }
}

static MaxStatus run(const MaxModel* model, const struct arrays* arrays, const MaxModelExecuteOptions* options,
                     MaxBuffer** outputs) {
  return maxModelExecuteHost(model, arrays->data, arrays->dtypes, arrays->ranks, arrays->shapes, 2, options, outputs,
                             2);
}

static void expect(MaxBuffer* buffer, float first, float step) {
  for (int i = 0; i < 6; ++i) assert_true(((const float*)data_of(buffer))[i] == first + step * (float)i);
  maxBufferRelease(buffer);
}

static void arrays_of_the_host_are_inputs(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  struct arrays arrays;
  fill(&arrays);
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK(run(model, &arrays, NULL, outputs));
  memset(arrays.a, 0, sizeof arrays.a); /* they were borrowed until the call returned */
  memset(arrays.b, 0, sizeof arrays.b);
  assert_true(data_of(outputs[0]) != (void*)arrays.a && data_of(outputs[0]) != data_of(outputs[1]));
  expect(outputs[0], 10, 1);
  expect(outputs[1], -10, 1);
  maxModelRelease(model);
}

static void outputs_never_are_the_arrays(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("identity"));
  const float x[] = {1, 2, 3};
  const void* data = x;
  const MaxDType dtype = MAX_DTYPE_FLOAT32;
  const int32_t rank = 1;
  const int64_t three = 3, zero = 0, *shape = &three;
  MaxBuffer* output = NULL;
  CHECK(maxModelExecuteHost(model, &data, &dtype, &rank, &shape, 1, NULL, &output, 1));
  assert_true(data_of(output) != data);
  assert_memory_equal(data_of(output), x, sizeof x);
  maxBufferRelease(output);
  data = NULL; /* allowed without elements */
  shape = &zero;
  CHECK(maxModelExecuteHost(model, &data, &dtype, &rank, &shape, 1, NULL, &output, 1));
  maxBufferRelease(output);
  maxModelRelease(model);
}

static void what_is_not_aligned_is_copied(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  struct arrays arrays;
  char bytes[sizeof arrays.a + 1];
  fill(&arrays);
  memcpy(bytes + 1, arrays.a, sizeof arrays.a);
  arrays.data[0] = bytes + 1;
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK(run(model, &arrays, NULL, outputs));
  expect(outputs[0], 10, 1);
  expect(outputs[1], -10, 1);
  maxModelRelease(model);
}

static void sleep_a_while(void* flag, MaxStatus status) {
  (void)status;
  sleep_ms(30);
  *(int*)flag = 1;
}

static void on_a_stream_the_call_waits(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  MaxDevice* cpu = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &stream));
  struct arrays arrays;
  fill(&arrays);
  int done = 0;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_a_while, &done));
  CHECK(run(model, &arrays, &options, outputs));
  assert_int_equal(done, 1);
  expect(outputs[0], 10, 1);
  expect(outputs[1], -10, 1);
  maxStreamRelease(stream);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

static void given_outputs_are_written(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  struct arrays arrays;
  fill(&arrays);
  MaxBuffer *given[] = {NULL, new_floats(2, arrays.shape, 0)}, *outputs[2] = {NULL, NULL};
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = given;
  CHECK(run(model, &arrays, &options, outputs));
  assert_ptr_equal(outputs[1], given[1]);
  expect(outputs[0], 10, 1);
  expect(outputs[1], -10, 1);
  arrays.data[1] = data_of(given[1]);
  CHECK_FAILS(run(model, &arrays, &options, outputs), MAX_STATUS_INVALID_ARGUMENT,
              "Output 1 ('difference'): shares memory with input 1 ('b'); given float32[2, 3]");
  assert_true(outputs[0] == NULL && outputs[1] == NULL);
  maxBufferRelease(given[1]);
  maxModelRelease(model);
}

static void wrong_arrays_are_refused(void** state) {
  (void)state;
  static const int64_t negative[] = {-2, 3}, huge[] = {INT64_MAX, 3}, wide[] = {2, 4}, other[] = {1, 3};
  static const struct {
    MaxDType dtype;
    int32_t rank;
    const int64_t* shape;
    int has_data;
    MaxStatus status;
    const char* message;
  } cases[] = {
      {MAX_DTYPE_FLOAT64, 2, other, 1, MAX_STATUS_INVALID_ARGUMENT,
       "Input 1 ('b'): dtype is float64, expected float32; given float64[1, 3], the model takes float32[batch, 3]"},
      {MAX_DTYPE_FLOAT32, 1, other, 1, MAX_STATUS_INVALID_ARGUMENT,
       "Input 1 ('b'): rank is 1, expected 2; given float32[1]"},
      {MAX_DTYPE_FLOAT32, 2, wide, 1, MAX_STATUS_INVALID_ARGUMENT, "Input 1 ('b'): dimension 1 is 4, expected 3"},
      {MAX_DTYPE_FLOAT32, 2, other, 1, MAX_STATUS_INVALID_ARGUMENT,
       "Input 1 ('b'): dimension 0 is 1, but 'batch' is 2 in input 0 ('a'); given float32[1, 3]"},
      {MAX_DTYPE_FLOAT32, 2, negative, 1, MAX_STATUS_OUT_OF_RANGE, "-2"},
      {MAX_DTYPE_FLOAT32, 2, huge, 1, MAX_STATUS_OUT_OF_RANGE, "overflow"},
      {MAX_DTYPE_FLOAT32, 2, NULL, 1, MAX_STATUS_INVALID_ARGUMENT, "Input 1 ('b'): its shape is NULL"},
      {MAX_DTYPE_FLOAT32, 2, other, 0, MAX_STATUS_INVALID_ARGUMENT, "Input 1 ('b'): its data is NULL"},
      {MAX_DTYPE_FLOAT32, -1, other, 1, MAX_STATUS_INVALID_ARGUMENT, "Input 1 ('b'): rank is -1"},
      {MAX_DTYPE_FLOAT32, 17, other, 1, MAX_STATUS_INVALID_ARGUMENT, "Input 1 ('b'): rank is 17"},
      {12345, 2, other, 1, MAX_STATUS_INVALID_ARGUMENT, "no dtype with number 12345"},
      {MAX_DTYPE_STRING, 2, other, 1, MAX_STATUS_INVALID_ARGUMENT, "strings are not arrays of bytes"},
  };
  MaxModel* model = load(MODEL("add"));
  struct arrays arrays;
  MaxBuffer* outputs[2] = {NULL, NULL};
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    fill(&arrays);
    arrays.dtypes[1] = cases[i].dtype;
    arrays.ranks[1] = cases[i].rank;
    arrays.shapes[1] = cases[i].shape;
    if (!cases[i].has_data) arrays.data[1] = NULL;
    CHECK_FAILS(run(model, &arrays, NULL, outputs), cases[i].status, cases[i].message);
    assert_true(outputs[0] == NULL && outputs[1] == NULL);
  }
  fill(&arrays);
  CHECK_FAILS(maxModelExecuteHost(NULL, arrays.data, arrays.dtypes, arrays.ranks, arrays.shapes, 2, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "'model'");
  CHECK_FAILS(maxModelExecuteHost(model, NULL, arrays.dtypes, arrays.ranks, arrays.shapes, 2, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "'data'");
  CHECK_FAILS(maxModelExecuteHost(model, arrays.data, NULL, arrays.ranks, arrays.shapes, 2, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "'dtypes'");
  CHECK_FAILS(maxModelExecuteHost(model, arrays.data, arrays.dtypes, NULL, arrays.shapes, 2, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "'ranks'");
  CHECK_FAILS(maxModelExecuteHost(model, arrays.data, arrays.dtypes, arrays.ranks, NULL, 2, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "'shapes'");
  CHECK_FAILS(maxModelExecuteHost(model, arrays.data, arrays.dtypes, arrays.ranks, arrays.shapes, 1, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "Number of inputs is 1, expected 2: 'a' float32[batch, 3], 'b' float32");
  CHECK_FAILS(maxModelExecuteHost(model, arrays.data, arrays.dtypes, arrays.ranks, arrays.shapes, 2, NULL, outputs, 1),
              MAX_STATUS_INVALID_ARGUMENT, "Number of outputs is 1, expected 2: 'sum'");
  maxModelRelease(model);
}

static void sequences_are_no_arrays(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("sequences"));
  struct arrays arrays;
  MaxBuffer* outputs[3] = {NULL};
  fill(&arrays);
  CHECK_FAILS(maxModelExecuteHost(model, arrays.data, arrays.dtypes, arrays.ranks, arrays.shapes, 2, NULL, outputs, 3),
              MAX_STATUS_INVALID_ARGUMENT, "is a tensor, expected a sequence, which maxModelExecuteValues takes");
  maxModelRelease(model);
}

static void names_choose_inputs_and_outputs(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  const int64_t shape[] = {2, 3};
  MaxBuffer* inputs[] = {new_floats(2, shape, 3), new_floats(2, shape, 1)};
  const char *const names[] = {"b", "a"}, *const both[] = {"difference", "sum"};
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK(maxModelExecuteByName(model, names, inputs, 2, NULL, both, outputs, 2));
  expect(outputs[0], -2, 0);
  expect(outputs[1], 4, 0);
  CHECK(maxModelExecuteByName(model, names, inputs, 2, NULL, both + 1, outputs, 1));
  expect(outputs[0], 4, 0);
  CHECK(maxModelExecuteByName(model, names, inputs, 2, NULL, NULL, NULL, 0));
  MaxBuffer* given = new_floats(2, shape, 0);
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = &given;
  CHECK(maxModelExecuteByName(model, names, inputs, 2, &options, both, outputs, 1));
  assert_ptr_equal(outputs[0], given);
  maxBufferRelease(given);
  expect(outputs[0], -2, 0);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
}

static void wrong_names_are_refused(void** state) {
  (void)state;
  static const char *const good[] = {"a", "b"}, *const unknown[] = {"a", "c"}, *const twice[] = {"a", "a"},
                           *const null[] = {"a", NULL}, *const out[] = {"sum", "sum"};
  MaxModel* model = load(MODEL("add"));
  const int64_t shape[] = {2, 3};
  MaxBuffer* input = new_floats(2, shape, 3);
  MaxBuffer *inputs[] = {input, input}, *holes[] = {input, NULL}, *outputs[2] = {input, input};
  CHECK_FAILS(maxModelExecuteByName(model, unknown, inputs, 2, NULL, out, outputs, 1), MAX_STATUS_NOT_FOUND,
              "no input 'c'; known names: 'a', 'b'");
  assert_null(outputs[0]);
  CHECK_FAILS(maxModelExecuteByName(model, twice, inputs, 2, NULL, out, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 'a' occurs twice");
  CHECK_FAILS(maxModelExecuteByName(model, good, inputs, 1, NULL, out, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 'b' is missing, expected float32[batch, 3]");
  CHECK_FAILS(maxModelExecuteByName(model, good, holes, 2, NULL, out, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 'b' is NULL");
  CHECK_FAILS(maxModelExecuteByName(model, null, inputs, 2, NULL, out, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Name of input 1 is NULL");
  CHECK_FAILS(maxModelExecuteByName(model, good, inputs, 2, NULL, unknown, outputs, 1), MAX_STATUS_NOT_FOUND,
              "no output 'a'; known names: 'sum', 'difference'");
  CHECK_FAILS(maxModelExecuteByName(model, good, inputs, 2, NULL, out, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "Output 'sum' is requested twice");
  CHECK_FAILS(maxModelExecuteByName(model, good, inputs, 2, NULL, null + 1, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Name of output 0 is NULL");
  CHECK_FAILS(maxModelExecuteByName(model, NULL, inputs, 2, NULL, out, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "'inputNames'");
  CHECK_FAILS(maxModelExecuteByName(model, good, inputs, 2, NULL, NULL, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "'outputNames'");
  CHECK_FAILS(maxModelExecuteByName(NULL, good, inputs, 2, NULL, out, outputs, 1), MAX_STATUS_INVALID_ARGUMENT,
              "'model'");
  maxBufferRelease(input);
  maxModelRelease(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(arrays_of_the_host_are_inputs), TEST(outputs_never_are_the_arrays),    TEST(what_is_not_aligned_is_copied),
      TEST(on_a_stream_the_call_waits),    TEST(given_outputs_are_written),       TEST(wrong_arrays_are_refused),
      TEST(sequences_are_no_arrays),       TEST(names_choose_inputs_and_outputs), TEST(wrong_names_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
