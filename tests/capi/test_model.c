/* SPDX-License-Identifier: Apache-2.0 */
/* Models: loading, metadata, execution, bad input. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"

#define MODEL(name) MAX_TEST_DATA "/models/" name ".onnx"

static MaxSession* new_session(int32_t threads) {
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = threads;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(&options, &session));
  return session;
}

/* The model holds its session. */
static MaxModel* load(const char* path) {
  MaxSession* session = new_session(2);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, path, NULL, &model));
  maxSessionRelease(session);
  return model;
}

static MaxBuffer* new_floats(int32_t rank, const int64_t* shape, const float* values) {
  MaxDevice* cpu = open_cpu();
  MaxBuffer* buffer = new_buffer(cpu, MAX_DTYPE_FLOAT32, rank, shape);
  size_t bytes = info_of(buffer).byteCount;
  if (bytes > 0) memcpy(data_of(buffer), values, bytes);
  maxDeviceRelease(cpu);
  return buffer;
}

static void expect_floats(const MaxBuffer* buffer, int64_t count, const float* expected) {
  int64_t elements = -1;
  const void* data = NULL;
  elements = info_of(buffer).elementCount;
  assert_int_equal(elements, count);
  CHECK(maxBufferGetData(buffer, &data));
  for (int64_t i = 0; i < count; ++i)
    if (((const float*)data)[i] != expected[i]) fail_msg("element %d is %g", (int)i, (double)((const float*)data)[i]);
}

static void loads_and_executes(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("identity"));
  for (int64_t n = 0; n < 5; ++n) {
    MaxBuffer* input = new_vector(n, 1);
    MaxBuffer* output = NULL;
    CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
    assert_ptr_not_equal(input, output);
    const void* data = NULL;
    CHECK(maxBufferGetData(output, &data));
    if (n > 0) assert_ptr_not_equal(data, data_of(input));
    maxBufferRelease(input);
    expect_floats(output, n, (const float[]){1, 2, 3, 4});
    maxBufferRelease(output);
  }
  maxModelRelease(model);
}

static void loads_from_folders_and_memory(void** state) {
  (void)state;
  MaxSession* session = new_session(1);
  MaxModel* model = NULL;
  char folder[] = "/tmp/max-test-XXXXXX", link[64], bytes[4096];
  assert_non_null(mkdtemp(folder));
  snprintf(link, sizeof link, "%s/model.onnx", folder);
  assert_int_equal(symlink(MODEL("negate"), link), 0);
  CHECK(maxModelLoad(session, folder, NULL, &model));
  maxModelRelease(model);
  unlink(link);
  rmdir(folder);

  FILE* file = fopen(MODEL("negate"), "rb");
  assert_non_null(file);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK(maxModelLoadFromMemory(session, bytes, size, NULL, &model));
  memset(bytes, 0, sizeof bytes); /* they were copied */
  MaxBuffer *input = new_vector(5, 1), *output = NULL;
  CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
  expect_floats(output, 5, (const float[]){-1, -2, -3, -4, -5});
  maxBufferRelease(input);
  maxBufferRelease(output);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void metadata_tells_names_types_and_shapes(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  int32_t count = 0, index = -1;
  CHECK(maxModelGetInputCount(model, &count));
  assert_int_equal(count, 2);
  MaxTensorInfo info = input_of(model, 1);
  assert_int_equal(info.structSize, sizeof info);
  assert_int_equal(info.validMask, 255);
  assert_string_equal(info.name, "b");
  assert_string_equal(info.typeName, "float32[batch, 3]");
  assert_int_equal(info.kind, MAX_VALUE_KIND_TENSOR);
  assert_int_equal(info.dtype, MAX_DTYPE_FLOAT32);
  assert_int_equal(info.rank, 2);
  assert_int_equal(info.shape[0], MAX_DIMENSION_DYNAMIC);
  assert_int_equal(info.shape[1], 3);
  assert_string_equal(info.dimensionNames[0], "batch");
  assert_null(info.dimensionNames[1]);
  assert_non_null(info.device);
  CHECK(maxModelFindInput(model, "b", &index));
  assert_int_equal(index, 1);
  CHECK_FAILS(maxModelFindInput(model, "c", &index), MAX_STATUS_NOT_FOUND, "no input 'c'; known names: 'a', 'b'");

  CHECK(maxModelGetOutputCount(model, &count));
  assert_int_equal(count, 2);
  info = output_of(model, 0);
  assert_string_equal(info.name, "sum");
  assert_int_equal(info.dtype, MAX_DTYPE_FLOAT32);
  assert_int_equal(info.rank, 2);
  assert_int_equal(info.shape[1], 3);
  assert_string_equal(info.dimensionNames[0], "batch");
  assert_ptr_equal(info.device, input_of(model, 0).device);
  CHECK(maxModelFindOutput(model, "difference", &index));
  assert_int_equal(index, 1);
  CHECK_FAILS(maxModelGetInput(model, 2, &info), MAX_STATUS_OUT_OF_RANGE, "Input 2 does not exist; there are 2");
  CHECK_FAILS(maxModelGetOutput(model, -1, &info), MAX_STATUS_OUT_OF_RANGE, "Output -1");
  assert_string_equal(info.name, "sum"); /* nothing was written */

  MaxSession* session = NULL;
  CHECK(maxModelGetSession(model, &session));
  assert_non_null(session);
  MaxPrecision precision = -1;
  CHECK(maxModelGetPrecision(model, &precision));
  assert_int_equal(precision, MAX_PRECISION_HIGHEST);
  maxModelRelease(model);
}

static void wrong_inputs_are_refused(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("negate"));
  MaxBuffer* six = new_vector(6, 0);
  MaxBuffer* inputs[] = {six, six};
  MaxBuffer* output = six;
  CHECK_FAILS(maxModelExecute(model, inputs, 2, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Number of inputs is 2, expected 1: 'x' float32[5]");
  assert_null(output);
  CHECK_FAILS(maxModelExecute(model, inputs, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 0 ('x'): dimension 0 is 6, expected 5; given float32[6], the model takes float32[5]");
  const int64_t five = 5, matrix[] = {5, 1};
  MaxDevice* cpu = open_cpu();
  MaxBuffer* integers = new_buffer(cpu, MAX_DTYPE_INT64, 1, &five);
  MaxBuffer* tall = new_buffer(cpu, MAX_DTYPE_FLOAT32, 2, matrix);
  CHECK_FAILS(maxModelExecute(model, &integers, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 0 ('x'): dtype is int64, expected float32; given int64[5], the model takes float32[5]");
  CHECK_FAILS(maxModelExecute(model, &tall, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "rank is 2, expected 1; given float32[5, 1], the model takes float32[5]");
  MaxBuffer* nothing = NULL;
  CHECK_FAILS(maxModelExecute(model, &nothing, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 0 ('x') is NULL, expected float32[5]");
  MaxBuffer* five_floats = new_vector(5, 0);
  MaxBuffer* outputs[] = {six, six};
  CHECK_FAILS(maxModelExecute(model, &five_floats, 1, NULL, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "Number of outputs is 2, expected 1");
  assert_null(outputs[0]);
  assert_null(outputs[1]);
  maxDeviceRelease(cpu);
  maxBufferRelease(six);
  maxBufferRelease(five_floats);
  maxBufferRelease(integers);
  maxBufferRelease(tall);
  maxModelRelease(model);
}

static void dimensions_of_one_name_must_agree(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  const float values[9] = {0};
  MaxBuffer* inputs[] = {new_floats(2, (const int64_t[]){2, 3}, values),
                         new_floats(2, (const int64_t[]){1, 3}, values)};
  MaxBuffer* outputs[] = {NULL, NULL};
  CHECK_FAILS(maxModelExecute(model, inputs, 2, NULL, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "Input 1 ('b'): dimension 0 is 1, but 'batch' is 2 in input 0 ('a'); given float32[1, 3], the model "
              "takes float32[batch, 3]");
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
}

static void strided_inputs_are_refused(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("identity"));
  MaxDevice* cpu = open_cpu();
  float values[10] = {0};
  const int64_t shape = 5, stride = 2;
  MaxBufferWrapOptions wrap = MAX_BUFFER_WRAP_OPTIONS_INIT;
  wrap.strides = &stride;
  MaxBuffer *input = NULL, *output = NULL;
  CHECK(maxBufferWrap(cpu, values, MAX_DTYPE_FLOAT32, 1, &shape, &wrap, &input));
  CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 0 ('x'): is not contiguous; maxBufferContiguous makes a contiguous copy; given float32[5]");
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

static void missing_and_foreign_files_are_refused(void** state) {
  (void)state;
  MaxSession* session = new_session(1);
  MaxModel* model = NULL;
  MaxModelInfo* info = NULL;
  CHECK_FAILS(maxModelLoad(session, "/no/such/model.onnx", NULL, &model), MAX_STATUS_NOT_FOUND, "/no/such/model.onnx");
  CHECK_FAILS(maxModelLoad(session, MAX_TEST_DATA, NULL, &model), MAX_STATUS_NOT_FOUND, "model.onnx");
  CHECK_FAILS(maxModelLoad(session, "", NULL, &model), MAX_STATUS_NOT_FOUND, "");
  CHECK_FAILS(maxModelLoad(session, MAX_TEST_DATA "/models/make_models.py", NULL, &model), MAX_STATUS_DATA_LOSS,
              "make_models.py");
  CHECK_FAILS(maxModelLoadFromMemory(session, "", 0, NULL, &model), MAX_STATUS_DATA_LOSS, "memory");
  CHECK_FAILS(maxModelInfoLoad("/no/such/model.onnx", &info), MAX_STATUS_NOT_FOUND, "/no/such/model.onnx");
  assert_null(model);
  assert_null(info);
  maxSessionRelease(session);
}

static void unsupported_operators_are_listed_at_once(void** state) {
  (void)state;
  MaxSession* session = new_session(1);
  MaxModel* model = NULL;
  CHECK_FAILS(maxModelLoad(session, MODEL("unsupported"), NULL, &model), MAX_STATUS_UNIMPLEMENTED, "Frobnicate");
  CHECK_FAILS(maxModelLoad(session, MODEL("unsupported"), NULL, &model), MAX_STATUS_UNIMPLEMENTED, "Twist");
  MaxModelInfo* info = NULL;
  int32_t count = 0;
  int64_t number = 0;
  const char* text = NULL;
  CHECK(maxModelInfoLoad(MODEL("unsupported"), &info));
  CHECK(maxModelInfoGetUnsupportedCount(info, &count));
  assert_int_equal(count, 2);
  CHECK(maxModelInfoGetUnsupportedNode(info, 1, &text));
  assert_string_equal(text, "second");
  CHECK(maxModelInfoGetUnsupportedOperator(info, 1, &text));
  assert_string_equal(text, "com.example.Twist");
  CHECK(maxModelInfoGetUnsupportedVersion(info, 1, &number));
  assert_int_equal(number, 1);
  CHECK_FAILS(maxModelInfoGetUnsupportedNode(info, 2, &text), MAX_STATUS_OUT_OF_RANGE, "2");
  maxModelInfoRetain(info);
  maxModelInfoRelease(info);
  maxModelInfoRelease(info);
  maxModelInfoRelease(NULL);
  maxSessionRelease(session);
}

static void info_counts_operators_and_parameters(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("linear"));
  MaxModelInfo* info = NULL;
  int32_t count = 0;
  int64_t number = 0;
  const char* text = NULL;
  CHECK(maxModelGetInfo(model, &info));
  CHECK(maxModelInfoGetIrVersion(info, &number));
  assert_int_equal(number, 8);
  CHECK(maxModelInfoGetProducer(info, &text));
  assert_string_equal(text, "make_models");
  CHECK(maxModelInfoGetParameterCount(info, &number));
  assert_int_equal(number, 6);
  CHECK(maxModelInfoGetOpsetCount(info, &count));
  assert_int_equal(count, 1);
  CHECK(maxModelInfoGetOpsetDomain(info, 0, &text));
  assert_string_equal(text, "ai.onnx");
  CHECK(maxModelInfoGetOpsetVersion(info, 0, &number));
  assert_int_equal(number, 17);
  CHECK(maxModelInfoGetOperatorCount(info, &count));
  assert_int_equal(count, 1);
  CHECK(maxModelInfoGetOperatorName(info, 0, &text));
  assert_string_equal(text, "MatMul");
  CHECK(maxModelInfoGetOperatorNodeCount(info, 0, &number));
  assert_int_equal(number, 1);
  CHECK(maxModelInfoGetUnsupportedCount(info, &count));
  assert_int_equal(count, 0);
  maxModelRelease(model);
}

static void weights_can_be_replaced(void** state) {
  (void)state;
  MaxSession* session = new_session(1);
  MaxModel* model = NULL;
  MaxBuffer* weight = new_floats(2, (const int64_t[]){2, 3}, (const float[]){1, 0, 0, 0, 1, 1});
  const char* names[] = {"weight"};
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  options.weightNames = names;
  options.weights = &weight;
  options.weightCount = 1;
  CHECK(maxModelLoad(session, MODEL("linear"), &options, &model));
  maxBufferRelease(weight);
  MaxBuffer* input = new_floats(2, (const int64_t[]){1, 2}, (const float[]){5, 7});
  MaxBuffer* output = NULL;
  CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
  expect_floats(output, 3, (const float[]){5, 7, 7});
  maxBufferRelease(output);
  maxModelRelease(model);

  options.weights = &input;
  CHECK_FAILS(maxModelLoad(session, MODEL("linear"), &options, &model), MAX_STATUS_INVALID_ARGUMENT,
              "Weight 'weight': dimension 0 is 1, expected 2; given float32[1, 2], the model has float32[2, 3]");
  names[0] = "bias";
  CHECK_FAILS(maxModelLoad(session, MODEL("linear"), &options, &model), MAX_STATUS_NOT_FOUND, "'bias'");
  names[0] = NULL;
  CHECK_FAILS(maxModelLoad(session, MODEL("linear"), &options, &model), MAX_STATUS_INVALID_ARGUMENT,
              "weight 0 is NULL");
  options.weightCount = -1;
  CHECK_FAILS(maxModelLoad(session, MODEL("linear"), &options, &model), MAX_STATUS_INVALID_ARGUMENT, "weightCount");
  options.weightCount = 0;
  for (MaxPrecision wanted = MAX_PRECISION_HIGHEST; wanted <= MAX_PRECISION_MEDIUM; ++wanted) {
    MaxPrecision precision = -1;
    options.precision = wanted;
    CHECK(maxModelLoad(session, MODEL("linear"), &options, &model));
    CHECK(maxModelGetPrecision(model, &precision));
    assert_true(precision == MAX_PRECISION_HIGHEST || precision == wanted);
    maxModelRelease(model);
  }
  options.precision = 9;
  CHECK_FAILS(maxModelLoad(session, MODEL("linear"), &options, &model), MAX_STATUS_INVALID_ARGUMENT, "precision");
  maxBufferRelease(input);
  maxSessionRelease(session);
}

static void outputs_can_be_given(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("add"));
  const int64_t shape[] = {1, 3}, wrong[] = {1, 4};
  MaxBuffer* inputs[] = {new_floats(2, shape, (const float[]){1, 2, 3}),
                         new_floats(2, shape, (const float[]){1, 1, 1})};
  MaxBuffer* given[] = {NULL, new_floats(2, shape, (const float[]){0, 0, 0})};
  MaxBuffer* outputs[] = {NULL, NULL};
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = given;
  CHECK(maxModelExecute(model, inputs, 2, &options, outputs, 2));
  assert_ptr_equal(outputs[1], given[1]);
  expect_floats(outputs[0], 3, (const float[]){2, 3, 4});
  expect_floats(given[1], 3, (const float[]){0, 1, 2});
  maxBufferRelease(outputs[0]);
  maxBufferRelease(outputs[1]);

  given[0] = given[1];
  CHECK_FAILS(maxModelExecute(model, inputs, 2, &options, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "Output 1 ('difference'): shares memory with output 0 ('sum')");
  given[0] = inputs[0];
  CHECK_FAILS(maxModelExecute(model, inputs, 2, &options, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "Output 0 ('sum'): shares memory with input 0 ('a')");
  const float zeros[4] = {0};
  given[0] = new_floats(2, wrong, zeros);
  CHECK_FAILS(maxModelExecute(model, inputs, 2, &options, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "Output 0 ('sum'): dimension 1 is 4, expected 3; given float32[1, 4], the model makes float32[1, 3]");
  assert_null(outputs[1]);
  maxBufferRelease(given[0]);
  maxBufferRelease(given[1]);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
}

static void views_keep_the_memory_of_an_output(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("identity"));
  MaxBuffer *first = new_vector(4, 1), *second = new_vector(4, 100);
  MaxBuffer *output = NULL, *view = NULL, *other = NULL;
  const int64_t shape[] = {2, 2};
  CHECK(maxModelExecute(model, &first, 1, NULL, &output, 1));
  CHECK(maxBufferView(output, MAX_DTYPE_FLOAT32, 2, shape, &view));
  maxBufferRelease(output);
  CHECK(maxModelExecute(model, &second, 1, NULL, &other, 1));
  expect_floats(view, 4, (const float[]){1, 2, 3, 4});
  maxModelRelease(model);
  expect_floats(other, 4, (const float[]){100, 101, 102, 103});
  maxBufferRelease(view);
  maxBufferRelease(other);
  maxBufferRelease(first);
  maxBufferRelease(second);
}

static void branches_and_unknown_shapes_work(void** state) {
  (void)state;
  MaxModel* branch = load(MODEL("branch"));
  MaxModel* nonzero = load(MODEL("nonzero"));
  MaxDevice* cpu = open_cpu();
  MaxBuffer* condition = new_buffer(cpu, MAX_DTYPE_BOOL, 0, NULL);
  MaxBuffer* x = new_vector(3, 0);
  for (int round = 0; round < 6; ++round) {
    MaxBuffer* inputs[] = {condition, x};
    MaxBuffer* output = NULL;
    *(unsigned char*)data_of(condition) = (unsigned char)(round % 2);
    CHECK(maxModelExecute(branch, inputs, 2, NULL, &output, 1));
    expect_floats(output, 3, round % 2 ? (const float[]){0, 2, 4} : (const float[]){-0.0f, -1, -2});
    maxBufferRelease(output);
    CHECK(maxModelExecute(nonzero, &x, 1, NULL, &output, 1));
    const void* data = NULL;
    CHECK(maxBufferGetData(output, &data));
    assert_int_equal(((const int64_t*)data)[0], 1);
    assert_int_equal(((const int64_t*)data)[1], 2);
    maxBufferRelease(output);
  }
  maxBufferRelease(condition);
  maxBufferRelease(x);
  maxDeviceRelease(cpu);
  maxModelRelease(branch);
  maxModelRelease(nonzero);
}

static void created_streams_order_calls(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("identity"));
  MaxModel* nonzero = load(MODEL("nonzero"));
  MaxDevice* cpu = open_cpu();
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  CHECK(maxStreamCreate(cpu, NULL, &options.stream));
  MaxBuffer* last = new_vector(1000, 1);
  for (int i = 0; i < 50; ++i) {
    MaxBuffer* output = NULL;
    CHECK(maxModelExecute(model, &last, 1, &options, &output, 1));
    maxBufferRelease(last);
    last = output;
  }
  MaxBuffer* found = NULL;
  CHECK(maxModelExecute(nonzero, &last, 1, &options, &found, 1));
  maxModelRelease(model); /* queued work holds it */
  CHECK(maxStreamSynchronize(options.stream, 0));
  const void* data = NULL;
  CHECK(maxBufferGetData(last, &data));
  assert_true(((const float*)data)[999] == 1000.0f);
  CHECK(maxBufferGetData(found, &data));
  assert_int_equal(((const int64_t*)data)[999], 999);
  maxBufferRelease(found);
  maxBufferRelease(last);
  maxStreamRelease(options.stream);
  maxDeviceRelease(cpu);
  maxModelRelease(nonzero);
}

static void failures_stay_with_the_stream(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("gather"));
  MaxDevice* cpu = open_cpu();
  const int64_t one = 1;
  MaxBuffer* inputs[] = {new_floats(2, (const int64_t[]){2, 2}, (const float[]){1, 2, 3, 4}),
                         new_buffer(cpu, MAX_DTYPE_INT64, 1, &one)};
  MaxBuffer* output = NULL;
  *(int64_t*)data_of(inputs[1]) = 7;
  CHECK_FAILS(maxModelExecute(model, inputs, 2, NULL, &output, 1), MAX_STATUS_OUT_OF_RANGE, "lookup");
  assert_null(output);
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  CHECK(maxStreamCreate(cpu, NULL, &options.stream));
  CHECK(maxModelExecute(model, inputs, 2, &options, &output, 1));
  maxBufferRelease(output);
  CHECK_FAILS(maxStreamSynchronize(options.stream, 0), MAX_STATUS_OUT_OF_RANGE, "lookup");
  CHECK(maxStreamSynchronize(options.stream, 0));
  *(int64_t*)data_of(inputs[1]) = 1;
  CHECK(maxModelExecute(model, inputs, 2, &options, &output, 1));
  CHECK(maxStreamSynchronize(options.stream, 0));
  expect_floats(output, 2, (const float[]){3, 4});
  maxBufferRelease(output);
  maxStreamRelease(options.stream);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

static void compiles_graphs_built_in_code(void** state) {
  (void)state;
  MaxSession* session = new_session(1);
  MaxModel* model = NULL;
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL;
  const int64_t dynamic = MAX_DIMENSION_DYNAMIC;
  CHECK(maxGraphCreate("built", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, &dynamic, NULL, &x));
  CHECK_FAILS(maxModelCompile(session, graph, NULL, &model), MAX_STATUS_FAILED_PRECONDITION, "no outputs");
  CHECK(maxGraphAddNode(graph, NULL, "Abs", NULL, &x, 1, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  for (int i = 0; i < 2; ++i) { /* the graph does not change */
    CHECK(maxModelCompile(session, graph, NULL, &model));
    MaxBuffer *input = new_vector(3, -1), *output = NULL;
    CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
    expect_floats(output, 3, (const float[]){1, 0, 1});
    maxBufferRelease(input);
    maxBufferRelease(output);
    MaxModelInfo* info = NULL;
    const char* name = NULL;
    CHECK(maxModelGetInfo(model, &info));
    CHECK(maxModelInfoGetOperatorName(info, 0, &name));
    assert_string_equal(name, "Abs");
    maxModelRelease(model);
  }
  maxGraphRelease(graph);
  maxSessionRelease(session);
}

static void* call_often(void* model) {
  for (int i = 0; i < 500; ++i) {
    MaxBuffer* input = new_vector(1 + i % 7, (float)i);
    MaxBuffer* output = NULL;
    CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
    const void* data = NULL;
    CHECK(maxBufferGetData(output, &data));
    if (((const float*)data)[i % 7] != (float)(i + i % 7)) return model;
    maxBufferRelease(input);
    maxBufferRelease(output);
  }
  return NULL;
}

static void many_threads_call_one_model(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("identity"));
  pthread_t threads[8];
  for (size_t i = 0; i < COUNT_OF(threads); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, model), 0);
  for (size_t i = 0; i < COUNT_OF(threads); ++i) {
    void* failed = model;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  maxModelRelease(model);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  MaxSession* session = new_session(1);
  MaxModel* model = NULL;
  MaxBuffer* output = NULL;
  int32_t number = 0;
  CHECK_FAILS(maxModelLoad(NULL, "x", NULL, &model), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxModelLoad(session, NULL, NULL, &model), MAX_STATUS_INVALID_ARGUMENT, "path");
  CHECK_FAILS(maxModelLoad(session, "x", NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outModel");
  CHECK_FAILS(maxModelLoadFromMemory(session, NULL, 4, NULL, &model), MAX_STATUS_INVALID_ARGUMENT, "data");
  CHECK_FAILS(maxModelCompile(session, NULL, NULL, &model), MAX_STATUS_INVALID_ARGUMENT, "graph");
  CHECK_FAILS(maxModelExecute(NULL, NULL, 0, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelGetInputCount(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelFindOutput(NULL, "x", &number), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK(maxModelLoad(session, MODEL("identity"), NULL, &model));
  CHECK_FAILS(maxModelExecute(model, NULL, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "inputs");
  CHECK_FAILS(maxModelExecute(model, NULL, 1, NULL, NULL, 1), MAX_STATUS_INVALID_ARGUMENT, "outOutputs");
  CHECK_FAILS(maxModelExecute(model, NULL, -1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "inputCount is -1; it must be at least 0");
  CHECK_FAILS(maxModelGetInput(model, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "outInfo");
  maxModelRetain(NULL);
  maxModelRelease(NULL);
  maxModelRelease(model);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(loads_and_executes),
      TEST(loads_from_folders_and_memory),
      TEST(metadata_tells_names_types_and_shapes),
      TEST(wrong_inputs_are_refused),
      TEST(dimensions_of_one_name_must_agree),
      TEST(strided_inputs_are_refused),
      TEST(missing_and_foreign_files_are_refused),
      TEST(unsupported_operators_are_listed_at_once),
      TEST(info_counts_operators_and_parameters),
      TEST(weights_can_be_replaced),
      TEST(outputs_can_be_given),
      TEST(views_keep_the_memory_of_an_output),
      TEST(branches_and_unknown_shapes_work),
      TEST(created_streams_order_calls),
      TEST(failures_stay_with_the_stream),
      TEST(compiles_graphs_built_in_code),
      TEST(many_threads_call_one_model),
      TEST(null_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
