/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions: operators of the program and of libraries, and all that can be wrong with them. */
#include <pthread.h>
#include <unistd.h>

#include "extension_fixture.h"

static MaxGraphValue* vector_input(const char* name) {
  return add_input(graph, name, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1});
}

static MaxStatus try_node(const char* op, MaxGraphValue* const* inputs, int32_t count, const char* attribute,
                          const char* text, MaxGraphValue** out) {
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  if (attribute) CHECK(maxAttributesSetString(attributes, attribute, text));
  const MaxStatus status = maxGraphAddNode(graph, "test", op, "it", inputs, count, attributes, out, 1);
  maxAttributesRelease(attributes);
  return status;
}

static MaxGraphValue* add(const char* op, MaxGraphValue* a, MaxGraphValue* b) {
  MaxGraphValue *inputs[] = {a, b}, *output = NULL;
  CHECK(try_node(op, inputs, b ? 2 : 1, NULL, NULL, &output));
  return output;
}

static void test_a_model_runs_operators_of_the_program(void** state) {
  (void)state;
  MaxModel* model = model_of(add("Copy", add("Sum", vector_input("a"), vector_input("b")), NULL));
  for (int64_t size = 0; size < 5000; size = size * 3 + 1) {
    MaxBuffer *inputs[] = {new_vector(size, 1), new_vector(size, 10)}, *output = NULL;
    CHECK(maxModelExecute(model, inputs, 2, NULL, &output, 1));
    for (int64_t i = 0; i < size; ++i) assert_true(((float*)data_of(output))[i] == 11 + 2 * (float)i);
    maxBufferRelease(inputs[0]);
    maxBufferRelease(inputs[1]);
    maxBufferRelease(output);
  }
  maxModelRelease(model);
}

static void test_optional_inputs_and_outputs(void** state) {
  (void)state;
  MaxGraphValue *a = vector_input("a"), *c = vector_input("c"), *outputs[2] = {NULL, NULL};
  MaxGraphValue* inputs[] = {a, NULL, c};
  CHECK(maxGraphAddNode(graph, "test", "Sum", "it", inputs, 3, NULL, outputs, 2));
  MaxModel* model = model_of(outputs[1]);
  MaxBuffer *buffers[] = {new_vector(3, 1), new_vector(3, 1)}, *output = NULL;
  CHECK(maxModelExecute(model, buffers, 2, NULL, &output, 1));
  assert_int_equal(*(int64_t*)data_of(output), 3);
  maxBufferRelease(output);
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  maxModelRelease(model);
  CHECK_FAILS(try_node("Sum", inputs, 0, NULL, NULL, outputs), MAX_STATUS_INVALID_ARGUMENT,
              "has 0 inputs, needs 1 to 3");
  CHECK_FAILS(try_node("Sum", inputs, 1, "other", "x", outputs), MAX_STATUS_INVALID_ARGUMENT, "known are numbers");
}

static void test_lists_of_inputs_and_outputs(void** state) {
  (void)state;
  MaxGraphValue *inputs[3] = {vector_input("a"), vector_input("b"), vector_input("c")},
                *outputs[3] = {NULL, NULL, NULL};
  CHECK_FAILS(maxGraphAddNode(graph, "test", "Reversed", "it", inputs, 3, NULL, outputs, 2),
              MAX_STATUS_INVALID_ARGUMENT, "as many as inputs");
  CHECK(maxGraphAddNode(graph, "test", "Reversed", "it", inputs, 3, NULL, outputs, 3));
  CHECK(maxGraphAddOutput(graph, outputs[2], "first"));
  MaxModel* model = model_of(outputs[0]);
  MaxBuffer *buffers[] = {new_vector(2, 1), new_vector(3, 10), new_vector(4, 100)}, *results[2] = {NULL, NULL};
  CHECK(maxModelExecute(model, buffers, 3, NULL, results, 2));
  assert_true(((float*)data_of(results[0]))[1] == 2);
  assert_true(((float*)data_of(results[1]))[3] == 103);
  for (int i = 0; i < 3; ++i) maxBufferRelease(buffers[i]);
  for (int i = 0; i < 2; ++i) maxBufferRelease(results[i]);
  maxModelRelease(model);
}

static void test_constants_and_attributes_are_prepared_once(void** state) {
  (void)state;
  MaxAttributes* attributes = NULL;
  MaxBuffer* three = new_vector(1, 3);
  MaxGraphValue *inputs[] = {vector_input("a"), NULL}, *output = NULL;
  CHECK(maxGraphAddConstant(graph, "three", three, &inputs[1]));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetFloats(attributes, "numbers", (const float[]){20, 100}, 2));
  CHECK(maxGraphAddNode(graph, "test", "Sum", "it", inputs, 2, attributes, &output, 1));
  maxAttributesRelease(attributes);
  MaxModel* model = model_of(output);
  assert_int_equal(states, 1);
  for (int64_t size = 1; size < 4; ++size) {
    MaxBuffer* input = new_vector(size, 0);
    MaxBuffer* sums = execute(model, input);
    assert_true(first_of(sums) == 126);
    maxBufferRelease(sums);
    maxBufferRelease(input);
  }
  assert_int_equal(states, 1);
  maxModelRelease(model);
  maxBufferRelease(three);
  assert_int_equal(states, 0);
}

static void test_kernels_of_the_device_of_a_call(void** state) {
  (void)state;
  MaxModel* model = model_of(add("Twice", vector_input("x"), NULL));
  for (int64_t size = 1; size < 200; size += 99) {
    MaxBuffer* input = new_vector(size, 3);
    MaxBuffer* output = execute(model, input);
    for (int64_t i = 0; i < size; ++i) assert_true(((const float*)data_of(output))[i] == 2 * (3 + (float)i));
    maxBufferRelease(output);
    maxBufferRelease(input);
  }
  maxModelRelease(model);
}

static void test_all_kinds_of_attributes(void** state) {
  (void)state;
  const char* const strings[] = {"ab", "cde"};
  MaxAttributes* attributes = NULL;
  MaxBuffer* tensor = new_vector(3, 1000);
  MaxGraphValue *x = vector_input("x"), *outputs[2] = {NULL, NULL};
  CHECK(maxGraphAddNode(graph, "test", "Attributes", "n", &x, 1, NULL, &outputs[0], 1));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "i", 7));
  CHECK(maxAttributesSetFloat(attributes, "f", 0.25f));
  CHECK(maxAttributesSetString(attributes, "s", "four"));
  CHECK(maxAttributesSetInts(attributes, "ints", (const int64_t[]){10, 20}, 2));
  CHECK(maxAttributesSetFloats(attributes, "floats", (const float[]){100, 200}, 2));
  CHECK(maxAttributesSetStrings(attributes, "strings", strings, 2));
  CHECK(maxAttributesSetTensor(attributes, "t", tensor));
  CHECK(maxGraphAddNode(graph, "test", "Attributes", "n", &x, 1, attributes, &outputs[1], 1));
  CHECK(maxAttributesSetInt(attributes, "wrong", 1));
  MaxGraphValue* none = NULL;
  CHECK_FAILS(maxGraphAddNode(graph, "test", "Attributes", "n", &x, 1, attributes, &none, 1),
              MAX_STATUS_INVALID_ARGUMENT, "Attribute 'wrong' is not of type ints");
  maxAttributesRelease(attributes);
  CHECK(maxGraphAddOutput(graph, outputs[0], "fallbacks"));
  MaxModel* model = model_of(outputs[1]);
  MaxBuffer *input = new_vector(1, 0), *results[2] = {NULL, NULL};
  CHECK(maxModelExecute(model, &input, 1, NULL, results, 2));
  assert_true(first_of(results[0]) == 5.0f + 0.5f + 1 + 1);
  assert_true(first_of(results[1]) == 7.0f + 0.25f + 4 + 1 + 1 + 30 + 300 + 5 + 1002);
  maxBufferRelease(input);
  maxBufferRelease(results[0]);
  maxBufferRelease(results[1]);
  maxBufferRelease(tensor);
  maxModelRelease(model);
}

static void test_dimensions_keep_their_names(void** state) {
  (void)state;
  const char* const names[] = {"time"};
  MaxGraphValue *inputs[2] = {NULL, NULL}, *output = NULL;
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}, NAMED(names), &inputs[0]));
  inputs[1] = add_input(graph, "count", MAX_DTYPE_INT64, 0, NULL);
  output = add("Rows", inputs[0], inputs[1]);
  assert_string_equal(value_info(output).dimensionNames[1], "time");
  assert_string_equal(value_info(add("Copy", inputs[0], NULL)).dimensionNames[0], "time");
  /* The contents of `count` are known when the model runs. */
  MaxModel* model = model_of(output);
  MaxBuffer* buffers[] = {new_vector(3, 5), NULL};
  MaxDevice* cpu = open_cpu();
  buffers[1] = new_buffer(cpu, MAX_DTYPE_INT64, 0, NULL);
  for (int64_t count = 4; count >= 0; count -= 2) {
    MaxBuffer* result = NULL;
    const int64_t* shape = NULL;
    *(int64_t*)data_of(buffers[1]) = count;
    CHECK(maxModelExecute(model, buffers, 2, NULL, &result, 1));
    shape = info_of(result).shape;
    assert_int_equal(shape[0], count);
    assert_int_equal(shape[1], 3);
    if (count > 0) assert_true(((float*)data_of(result))[3 * count - 1] == 7);
    maxBufferRelease(result);
  }
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

static void test_shapes_broadcast_or_are_refused(void** state) {
  (void)state;
  MaxGraphValue* inputs[] = {add_input(graph, "a", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){3}),
                             add_input(graph, "b", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){4})};
  MaxGraphValue* output = NULL;
  CHECK_FAILS(try_node("Sum", inputs, 2, NULL, NULL, &output), MAX_STATUS_INVALID_ARGUMENT, "do not broadcast");
}

static void test_only_what_may_differ_runs_again(void** state) {
  (void)state;
  MaxBuffer* three = new_vector(3, 3);
  MaxGraphValue* constant = NULL;
  CHECK(maxGraphAddConstant(graph, "three", three, &constant));
  MaxGraphValue* noise = add("Noise", constant, NULL);
  CHECK(maxGraphAddOutput(graph, add("Noise", constant, NULL), "other"));
  CHECK(maxGraphAddOutput(graph, add("Copy", constant, NULL), "copy"));
  MaxModel* model = model_of(noise);
  MaxBuffer* outputs[3] = {NULL, NULL, NULL};
  CHECK(maxModelExecute(model, NULL, 0, NULL, outputs, 3));
  executions = 0;
  for (int i = 0; i < 3; ++i) maxBufferRelease(outputs[i]);
  CHECK(maxModelExecute(model, NULL, 0, NULL, outputs, 3));
  assert_int_equal(executions, 2);
  for (int i = 0; i < 3; ++i) maxBufferRelease(outputs[i]);
  maxModelRelease(model);
  maxBufferRelease(three);
}

static void test_errors_name_node_operator_and_extension(void** state) {
  (void)state;
  MaxGraphValue *x = vector_input("x"), *y = NULL;
  CHECK_FAILS(try_node("Failing", &x, 1, "at", "infer", &y), MAX_STATUS_OUT_OF_RANGE,
              "node 'it' (test.Failing), extension 'tests': infer: the moon is full");
  assert_null(y);
  CHECK(try_node("Failing", &x, 1, "at", "execute", &y));
  MaxModel* model = model_of(y);
  MaxBuffer *input = new_vector(3, 1), *output = NULL;
  CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_OUT_OF_RANGE,
              "node 'it' (test.Failing), extension 'tests': execute: the moon is full");
  assert_null(output);
  maxBufferRelease(input);
  maxModelRelease(model);
}

static void test_statuses_that_do_not_exist(void** state) {
  (void)state;
  MaxGraphValue *x = vector_input("x"), *y = NULL;
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetString(attributes, "at", "infer"));
  CHECK(maxAttributesSetInt(attributes, "status", 99));
  CHECK_FAILS(maxGraphAddNode(graph, "test", "Failing", "it", &x, 1, attributes, &y, 1), MAX_STATUS_UNKNOWN,
              "infer returned 99");
  CHECK(maxAttributesSetInt(attributes, "status", MAX_STATUS_OK));
  CHECK_FAILS(maxGraphAddNode(graph, "test", "Failing", "it", &x, 1, attributes, &y, 1), MAX_STATUS_UNKNOWN,
              "the moon is full");
  maxAttributesRelease(attributes);
  CHECK_FAILS(maxExtensionFail(MAX_STATUS_ABORTED, NULL), MAX_STATUS_ABORTED, "");
}

static void test_a_failing_prepare_ends_the_load(void** state) {
  (void)state;
  MaxModel* model = NULL;
  CHECK(maxGraphAddOutput(graph, add("Unprepared", vector_input("x"), NULL), "y"));
  CHECK_FAILS(maxModelCompile(session, graph, NULL, &model), MAX_STATUS_RESOURCE_EXHAUSTED,
              "node 'it' (test.Unprepared), extension 'tests': prepare: no table of this size");
  assert_null(model);
}

static void test_outputs_that_infer_gets_wrong(void** state) {
  (void)state;
  static const struct {
    const char *what, *message;
    MaxStatus status;
  } cases[] = {
      {"type", "Output 0 cannot have the data type", MAX_STATUS_INVALID_ARGUMENT},
      {"number", "Output 0 cannot have the data type 4711", MAX_STATUS_INVALID_ARGUMENT},
      {"no type", "infer does not set the type of output 0", MAX_STATUS_INVALID_ARGUMENT},
      {"negative", "Dimensions cannot be [-2]", MAX_STATUS_INVALID_ARGUMENT},
      {"rank", "There cannot be 17 dimensions", MAX_STATUS_INVALID_ARGUMENT},
      {"no shape", "Argument 'shape' is NULL", MAX_STATUS_INVALID_ARGUMENT},
      {"output", "Output 1 does not exist; there are 1", MAX_STATUS_OUT_OF_RANGE},
      {"input", "Input 1 does not exist; there are 1", MAX_STATUS_OUT_OF_RANGE},
      {"axis", "Dimension 1 does not exist; there are 1", MAX_STATUS_OUT_OF_RANGE},
      {"scratch", "Scratch memory cannot be 18446744073709551615 bytes", MAX_STATUS_OUT_OF_RANGE},
      {"open", "infer leaves the shape of output 0 open", MAX_STATUS_INVALID_ARGUMENT},
      {"nothing", "infer leaves the shape of output 0 open", MAX_STATUS_INVALID_ARGUMENT},
  };
  MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){3}), *y = NULL;
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    CHECK_FAILS(try_node("Odd", &x, 1, "what", cases[i].what, &y), cases[i].status, cases[i].message);
    assert_non_null(strstr(maxGetLastErrorMessage(), "node 'it' (test.Odd)"));
    assert_non_null(strstr(maxGetLastErrorMessage(), "extension 'tests'"));
  }
}

static void test_outputs_that_execute_makes(void** state) {
  (void)state;
  static const struct {
    const char *what, *message;
    MaxStatus status;
  } cases[] = {
      {"right", NULL, MAX_STATUS_OK},
      {"nothing", "execute did not allocate output 0", MAX_STATUS_FAILED_PRECONDITION},
      {"wrong", "Output 0 cannot have the shape [2, 3]; infer set float32[?, 2]", MAX_STATUS_INVALID_ARGUMENT},
      {"negative", "Dimensions cannot be [-1, 2]", MAX_STATUS_INVALID_ARGUMENT},
      {"index", "Output 2 does not exist; there are 1", MAX_STATUS_OUT_OF_RANGE},
      {"twice", "Output 0 is already allocated", MAX_STATUS_FAILED_PRECONDITION},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    maxGraphRelease(graph);
    graph = new_graph("test");
    MaxGraphValue *x = vector_input("x"), *y = NULL;
    CHECK(try_node("Late", &x, 1, "what", cases[i].what, &y));
    MaxModel* model = model_of(y);
    MaxBuffer *input = new_vector(3, 1), *output = NULL;
    if (cases[i].message) {
      CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), cases[i].status, cases[i].message);
    } else {
      CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
      assert_true(((float*)data_of(output))[3] == 3);
    }
    maxBufferRelease(output);
    maxBufferRelease(input);
    maxModelRelease(model);
  }
  void* data = NULL;
  const MaxOperatorCall call = MAX_OPERATOR_CALL_INIT;
  CHECK_FAILS(maxOperatorCallAllocateOutput(&call, 0, 0, NULL, &data), MAX_STATUS_FAILED_PRECONDITION,
              "does not allocate its outputs");
}

static void test_late_outputs_that_nobody_wants(void** state) {
  (void)state;
  for (int wanted = 0; wanted < 2; ++wanted) {
    maxGraphRelease(graph);
    graph = new_graph("test");
    MaxGraphValue *x = vector_input("x"), *outputs[2] = {NULL, NULL};
    const int64_t* shape = NULL;
    CHECK(maxGraphAddNode(graph, "test", "Late", "it", &x, 1, NULL, outputs, 2));
    MaxModel* model = model_of(outputs[wanted]);
    MaxBuffer* input = new_vector(3, 1);
    MaxBuffer* output = execute(model, input);
    shape = info_of(output).shape;
    assert_int_equal(shape[0], wanted ? 5 : 2);
    maxBufferRelease(output);
    maxBufferRelease(input);
    maxModelRelease(model);
  }
}

static void test_texts_are_refused(void** state) {
  (void)state;
  MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_STRING, 1, (const int64_t[]){-1}), *y = NULL;
  CHECK_FAILS(try_node("Copy", &x, 1, NULL, NULL, &y), MAX_STATUS_INVALID_ARGUMENT, "only accept tensors of numbers");
}

static void test_calls_stop_in_their_loops(void** state) {
  (void)state;
  MaxModel* model = model_of(add("Sum", vector_input("a"), NULL));
  MaxCancellation* cancellation = NULL;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  CHECK(maxCancellationCreate(&cancellation));
  CHECK(maxCancellationCancel(cancellation));
  options.cancellation = cancellation;
  MaxBuffer *input = new_vector(100, 1), *output = NULL;
  CHECK_FAILS(maxModelExecute(model, &input, 1, &options, &output, 1), MAX_STATUS_CANCELLED, "");
  maxBufferRelease(input);
  maxCancellationRelease(cancellation);
  maxModelRelease(model);
}

static void test_tables_that_are_refused(void** state) {
  (void)state;
  const MaxOperator* operators[2] = {NULL, &operators_of_tests[0]};
  MaxExtensionTable table = MAX_EXTENSION_TABLE_INIT;
  CHECK_FAILS(maxExtensionAdd(NULL, &table), MAX_STATUS_INVALID_ARGUMENT, "'name' is NULL");
  CHECK_FAILS(maxExtensionAdd("bad", NULL), MAX_STATUS_INVALID_ARGUMENT, "'table' is NULL");
  CHECK_FAILS(maxExtensionAdd("bad", &table), MAX_STATUS_UNIMPLEMENTED,
              "Extension 'bad' was built for version 0 of the interface; this library supports 1");
  table.abiVersion = MAX_EXTENSION_ABI_VERSION + 1;
  CHECK_FAILS(maxExtensionAdd("bad", &table), MAX_STATUS_UNIMPLEMENTED, "version 2 of the interface");
  table.abiVersion = MAX_EXTENSION_ABI_VERSION;
  table.structSize = 4;
  CHECK_FAILS(maxExtensionAdd("bad", &table), MAX_STATUS_INVALID_ARGUMENT, "structSize");
  table.structSize = sizeof table;
  table.operatorCount = 1;
  CHECK_FAILS(maxExtensionAdd("bad", &table), MAX_STATUS_INVALID_ARGUMENT, "operators is NULL");
  CHECK_FAILS(add_rows("bad", operators, -1), MAX_STATUS_INVALID_ARGUMENT, "operatorCount is -1");
  CHECK_FAILS(add_rows("bad", operators, 2), MAX_STATUS_INVALID_ARGUMENT, "operator 0 is NULL");
}

static void set_domain(MaxOperator* row) { row->domain = NULL; }
static void set_own_domain(MaxOperator* row) { row->domain = "max"; }
static void set_onnx_domain(MaxOperator* row) { row->domain = "ai.onnx"; }
static void set_name(MaxOperator* row) { row->name = ""; }
static void set_size(MaxOperator* row) { row->structSize = 0; }
static void set_inputs(MaxOperator* row) { row->minInputs = 2; }
static void set_negative(MaxOperator* row) { row->minOutputs = -1; }
static void set_outputs(MaxOperator* row) { row->minOutputs = row->maxOutputs = 0; }
static void set_traits(MaxOperator* row) { row->traits = 64; }
static void set_shape_inputs(MaxOperator* row) { row->shapeInputs = 2; }
static void set_types(MaxOperator* row) { row->types = "T->T; T=float23"; }
static void set_type_count(MaxOperator* row) { row->types = "T,T->T; T=float32"; }
static void set_no_type(MaxOperator* row) { row->types = "*->float32"; }
static void set_repeated(MaxOperator* row) { row->types = "T->T...; T=float32"; }
static void set_list(MaxOperator* row) { row->maxInputs = MAX_OPERATOR_COUNT_ANY; }
static void set_attributes(MaxOperator* row) { row->attributes = "axis=i perm"; }
static void set_letter(MaxOperator* row) { row->attributes = "axis=x"; }
static void set_infer(MaxOperator* row) { row->infer = NULL; }
static void set_execute(MaxOperator* row) { row->execute = NULL; }
static void set_destroy(MaxOperator* row) { row->destroy = destroy_sum; }
static void set_known(MaxOperator* row) { row->domain = "com.microsoft", row->name = "Gelu"; }
static void set_other(MaxOperator* row) { row->name = "Copy", row->userData = row; }

static void test_operators_that_are_refused(void** state) {
  (void)state;
  static const struct {
    void (*change)(MaxOperator*);
    const char* message;
    MaxStatus status;
  } cases[] = {
      {set_domain, "its domain cannot be ''", MAX_STATUS_INVALID_ARGUMENT},
      {set_own_domain, "its domain cannot be 'max'", MAX_STATUS_INVALID_ARGUMENT},
      {set_onnx_domain, "its domain cannot be 'ai.onnx'", MAX_STATUS_INVALID_ARGUMENT},
      {set_name, "an operator has no name", MAX_STATUS_INVALID_ARGUMENT},
      {set_size, "structSize of MaxOperator is 0", MAX_STATUS_INVALID_ARGUMENT},
      {set_inputs, "it cannot have 2 to 1 inputs", MAX_STATUS_INVALID_ARGUMENT},
      {set_negative, "it cannot have -1 to 1 outputs", MAX_STATUS_INVALID_ARGUMENT},
      {set_outputs, "it has no outputs", MAX_STATUS_INVALID_ARGUMENT},
      {set_traits, "traits are 64", MAX_STATUS_UNIMPLEMENTED},
      {set_shape_inputs, "shapeInputs is 2, but it has 1 inputs", MAX_STATUS_INVALID_ARGUMENT},
      {set_types, "float23", MAX_STATUS_INVALID_ARGUMENT},
      {set_type_count, "do not match its inputs", MAX_STATUS_INVALID_ARGUMENT},
      {set_no_type, "allow no type for an input", MAX_STATUS_INVALID_ARGUMENT},
      {set_repeated, "do not match its outputs: at most 1", MAX_STATUS_INVALID_ARGUMENT},
      {set_list, "do not match its inputs", MAX_STATUS_INVALID_ARGUMENT},
      {set_attributes, "'perm' is not NAME=TYPE", MAX_STATUS_INVALID_ARGUMENT},
      {set_letter, "'axis=x' is not NAME=TYPE", MAX_STATUS_INVALID_ARGUMENT},
      {set_infer, "infer is NULL", MAX_STATUS_INVALID_ARGUMENT},
      {set_execute, "execute is NULL", MAX_STATUS_INVALID_ARGUMENT},
      {set_destroy, "destroy but not prepare", MAX_STATUS_INVALID_ARGUMENT},
      {set_known, "'com.microsoft.Gelu' of extension 'bad' is already defined, by this library",
       MAX_STATUS_ALREADY_EXISTS},
      {set_other, "'test.Copy' of extension 'bad' is already defined, by extension 'tests'", MAX_STATUS_ALREADY_EXISTS},
  };
  MaxGraphValue *x = vector_input("x"), *y = NULL;
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    const MaxOperator good = ROW("New", FLOATS, 1, 1, 1, infer_like, copy, .attributes = NULL);
    MaxOperator bad = ROW("Newer", FLOATS, 1, 1, 1, infer_like, copy, .attributes = NULL);
    const MaxOperator* operators[] = {&good, &bad};
    cases[i].change(&bad);
    CHECK_FAILS(add_rows("bad", operators, 2), cases[i].status, cases[i].message);
    CHECK_FAILS(try_node("New", &x, 1, NULL, NULL, &y), MAX_STATUS_UNIMPLEMENTED, "unknown operator 'test.New'");
  }
  CHECK_FAILS(try_node("Copyy", &x, 1, NULL, NULL, &y), MAX_STATUS_UNIMPLEMENTED, "did you mean 'Copy'?");
  CHECK_FAILS(maxGraphAddNode(graph, "tset", "Copy", "it", &x, 1, NULL, &y, 1), MAX_STATUS_UNIMPLEMENTED,
              "unknown operator 'tset.Copy'; did you mean domain 'test'?");
  CHECK_FAILS(maxGraphAddNode(graph, "elsewhere", "Copy", "it", &x, 1, NULL, &y, 1), MAX_STATUS_UNIMPLEMENTED,
              "no extension with operators of domain 'elsewhere' is loaded: maxExtensionLoad loads one");
  const MaxOperator* twice[] = {&operators_of_tests[0], &operators_of_tests[0]};
  CHECK_FAILS(add_rows("bad", twice, 2), MAX_STATUS_INVALID_ARGUMENT, "it is in the table twice");
}

/* A model whose two operators are those of the example's library. */
static void check_example(const char* path, const MaxModelLoadOptions* options) {
  MaxModel* model = NULL;
  MaxBuffer *input = new_vector(6, -2), *output = NULL;
  const int64_t* shape = NULL;
  CHECK(maxModelLoad(session, path, options, &model));
  CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
  shape = info_of(output).shape;
  assert_int_equal(shape[0], 3);
  assert_true(((float*)data_of(output))[1] == 2.0f * 4 / 5);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
}

static void copy_file(const char* from, const char* to) {
  char block[4096];
  FILE *source = fopen(from, "rb"), *target = fopen(to, "wb");
  assert_true(source && target);
  for (size_t count; (count = fread(block, 1, sizeof block, source)) > 0;)
    assert_int_equal(fwrite(block, 1, count, target), count);
  assert_int_equal(fclose(source) + fclose(target), 0);
}

static void test_libraries(void** state) {
  (void)state;
  const char* extensions[] = {MAX_EXTENSION_LIBRARY, NULL};
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  MaxModel* model = NULL;
  CHECK_FAILS(maxModelLoad(session, MAX_EXTENSION_MODEL, NULL, &model), MAX_STATUS_UNIMPLEMENTED, "Softsign");
  options.extensions = extensions;
  options.extensionCount = 1;
  check_example(MAX_EXTENSION_MODEL, &options);
  check_example(MAX_EXTENSION_MODEL, NULL);
  CHECK(maxExtensionLoad(MAX_EXTENSION_LIBRARY));
  options.extensionCount = 2;
  CHECK_FAILS(maxModelLoad(session, MAX_EXTENSION_MODEL, &options, &model), MAX_STATUS_INVALID_ARGUMENT,
              "Extension 1 is NULL");
  options.extensionCount = -1;
  CHECK_FAILS(maxModelLoad(session, MAX_EXTENSION_MODEL, &options, &model), MAX_STATUS_INVALID_ARGUMENT,
              "extensionCount is -1");
  options.extensions = NULL;
  options.extensionCount = 1;
  CHECK_FAILS(maxModelLoad(session, MAX_EXTENSION_MODEL, &options, &model), MAX_STATUS_INVALID_ARGUMENT,
              "'options.extensions' is NULL");
  char other[] = "/tmp/max_extension_XXXXXX";
  assert_true(mkdtemp(other) != NULL);
  char library[64], compiled[64];
  snprintf(library, sizeof library, "%s/other.so", other);
  snprintf(compiled, sizeof compiled, "%s/compiled.maxc", other);
  copy_file(MAX_EXTENSION_LIBRARY, library);
  CHECK_FAILS(maxExtensionLoad(library), MAX_STATUS_ALREADY_EXISTS,
              "is already defined, by extension '" MAX_EXTENSION_LIBRARY "'");
  assert_non_null(strstr(maxGetLastErrorMessage(), library));
  CHECK(maxModelLoad(session, MAX_EXTENSION_MODEL, NULL, &model));
  CHECK(maxModelSave(model, compiled));
  maxModelRelease(model);
  check_example(compiled, NULL);
  remove(library);
  remove(compiled);
  remove(other);
}

static void test_files_that_are_no_extensions(void** state) {
  (void)state;
  CHECK_FAILS(maxExtensionLoad("/tmp/no/such.so"), MAX_STATUS_NOT_FOUND, "/tmp/no/such.so");
  CHECK_FAILS(maxExtensionLoad(""), MAX_STATUS_NOT_FOUND, "''");
  CHECK_FAILS(maxExtensionLoad("/tmp"), MAX_STATUS_INVALID_ARGUMENT, "is not a file");
  CHECK_FAILS(maxExtensionLoad(MAX_EXTENSION_MODEL), MAX_STATUS_INVALID_ARGUMENT, "cannot be loaded");
  CHECK_FAILS(maxExtensionLoad(MAX_LIBRARY_FILE), MAX_STATUS_INVALID_ARGUMENT,
              "it has no function maxExtensionGetTable");
  CHECK_FAILS(maxExtensionLoad(MAX_WRONG_EXTENSION), MAX_STATUS_UNIMPLEMENTED,
              "has no table for version 1 of the interface");
  CHECK_FAILS(maxExtensionLoad(MAX_FOREIGN_EXTENSION), MAX_STATUS_FAILED_PRECONDITION,
              "is linked to another copy of this library");
  CHECK_FAILS(maxExtensionLoad(NULL), MAX_STATUS_INVALID_ARGUMENT, "'path' is NULL");
}

static void* use_from_thread(void* shared) {
  MaxSession* own = new_session(0);
  const MaxModel* model = shared;
  for (int i = 0; i < 20; ++i) {
    const MaxOperator row = ROW("Shared", FLOATS, 1, 1, 1, infer_like, copy, .attributes = NULL);
    const MaxOperator* operators[] = {&row};
    CHECK(add_rows("thread", operators, 1));
    CHECK(maxExtensionLoad(MAX_EXTENSION_LIBRARY));
    MaxBuffer* input = new_vector(100 + i, 1);
    MaxBuffer* output = execute(model, input);
    assert_true(first_of(output) == 1);
    maxBufferRelease(output);
    maxBufferRelease(input);
  }
  maxSessionRelease(own);
  return NULL;
}

static void test_many_threads_and_sessions(void** state) {
  (void)state;
  pthread_t threads[4];
  MaxModel* model = model_of(add("Sum", vector_input("a"), NULL));
  for (size_t i = 0; i < COUNT_OF(threads); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, use_from_thread, model), 0);
  for (size_t i = 0; i < COUNT_OF(threads); ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  maxModelRelease(model);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_a_model_runs_operators_of_the_program),
      CASE(test_optional_inputs_and_outputs),
      CASE(test_lists_of_inputs_and_outputs),
      CASE(test_constants_and_attributes_are_prepared_once),
      CASE(test_kernels_of_the_device_of_a_call),
      CASE(test_all_kinds_of_attributes),
      CASE(test_dimensions_keep_their_names),
      CASE(test_shapes_broadcast_or_are_refused),
      CASE(test_only_what_may_differ_runs_again),
      CASE(test_errors_name_node_operator_and_extension),
      CASE(test_statuses_that_do_not_exist),
      CASE(test_a_failing_prepare_ends_the_load),
      CASE(test_outputs_that_infer_gets_wrong),
      CASE(test_outputs_that_execute_makes),
      CASE(test_late_outputs_that_nobody_wants),
      CASE(test_texts_are_refused),
      CASE(test_calls_stop_in_their_loops),
      CASE(test_tables_that_are_refused),
      CASE(test_operators_that_are_refused),
      CASE(test_libraries),
      CASE(test_files_that_are_no_extensions),
      CASE(test_many_threads_and_sessions),
  };
  return cmocka_run_group_tests_name("extension", tests, NULL, NULL);
}
