/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs built in code. The patterns are those that bindings use: Python (cffi) keeps a MaxGraphValue together with
   its graph, Rust ties it to the graph by a lifetime, Go holds the graph in the value's struct; all of them build
   attributes in a short-lived handle per node. */
#include "graph_fixture.h"

static MaxGraphValue* add_floats(MaxGraph* target, const char* name, int32_t rank, const int64_t* shape,
                                 const char* const* names) {
  MaxGraphValue* value = NULL;
  CHECK(maxGraphAddInput(target, name, MAX_DTYPE_FLOAT32, rank, shape, NAMED(names), &value));
  return value;
}

static MaxBuffer* int64_buffer(int32_t rank, const int64_t* shape, const int64_t* values) {
  MaxBuffer* buffer = NULL;
  void* data = NULL;
  size_t bytes = 0;
  CHECK(maxBufferCreate(cpu, MAX_DTYPE_INT64, rank, shape, NULL, &buffer));
  CHECK(maxBufferGetMutableData(buffer, &data));
  bytes = info_of(buffer).byteCount;
  memcpy(data, values, bytes);
  return buffer;
}

static MaxGraphValue* add_int64s(MaxGraph* target, int32_t rank, const int64_t* shape, const int64_t* values) {
  MaxBuffer* buffer = int64_buffer(rank, shape, values);
  MaxGraphValue* value = NULL;
  CHECK(maxGraphAddConstant(target, NULL, buffer, &value));
  maxBufferRelease(buffer);
  return value;
}

static void assert_shape(const MaxGraphValue* value, int32_t rank, const int64_t* expected) {
  const MaxTensorInfo info = value_info(value);
  assert_int_equal(info.rank, rank);
  assert_true((info.shape != NULL) == (rank > 0) && (info.dimensionNames != NULL) == (rank > 0));
  for (int32_t i = 0; i < rank; ++i) assert_int_equal(info.shape[i], expected[i]);
}

static void assert_dimension_name(const MaxGraphValue* value, int32_t dimension, const char* expected) {
  const char* name = value_info(value).dimensionNames[dimension];
  if (expected)
    assert_string_equal(name, expected);
  else
    assert_null(name);
}

static void test_builds_a_graph_with_symbols(void** state) {
  (void)state;
  const int64_t shape[] = {-1, -1, 768}, weightShape[] = {768, 64};
  const char* names[] = {"batch", "seq", NULL};
  MaxGraphValue* inputs[2] = {add_floats(graph, "x", 3, shape, names), NULL};
  MaxGraphValue *product = NULL, *found = NULL;
  CHECK(maxGraphAddWeight(graph, "w", MAX_DTYPE_FLOAT32, 2, weightShape, NULL, &inputs[1]));
  CHECK(maxGraphAddNode(graph, NULL, "MatMul", "project", inputs, 2, NULL, &product, 1));
  assert_shape(product, 3, (const int64_t[]){-1, -1, 64});
  assert_dimension_name(product, 0, "batch");
  assert_dimension_name(product, 1, "seq");
  assert_dimension_name(product, 2, NULL);
  assert_int_equal(value_info(product).dtype, MAX_DTYPE_FLOAT32);
  assert_string_equal(value_info(product).typeName, "float32[batch, seq, 64]");

  CHECK(maxGraphAddOutput(graph, product, "y"));
  int32_t count = 0;
  const char* name = NULL;
  CHECK(maxGraphGetInputCount(graph, &count));
  assert_int_equal(count, 1);
  CHECK(maxGraphGetNodeCount(graph, &count));
  assert_int_equal(count, 1);
  CHECK(maxGraphGetOutputCount(graph, &count));
  assert_int_equal(count, 1);
  CHECK(maxGraphGetOutputName(graph, 0, &name));
  assert_string_equal(name, "y");
  CHECK(maxGraphGetOutput(graph, 0, &found));
  assert_ptr_equal(found, product);
  CHECK(maxGraphGetInput(graph, 0, &found));
  assert_ptr_equal(found, inputs[0]);
  CHECK(maxGraphFindValue(graph, "w", &found));
  assert_ptr_equal(found, inputs[1]);
  assert_string_equal(value_info(found).name, "w");
  CHECK(maxGraphGetName(graph, &name));
  assert_string_equal(name, "test");
  MaxGraph* owner = NULL;
  CHECK(maxGraphValueGetGraph(product, &owner));
  assert_ptr_equal(owner, graph);
}

/* Shape arithmetic is followed: Concat([seq * 2, 5]) gives a Reshape its dimensions. */
static void test_follows_shape_arithmetic(void** state) {
  (void)state;
  const int64_t shape[] = {-1, 10}, one[] = {1};
  const char* names[] = {"seq", NULL};
  MaxGraphValue* x = add_floats(graph, "x", 2, shape, names);
  MaxGraphValue *dims = NULL, *first = NULL, *twice = NULL, *target = NULL, *y = NULL;
  MaxAttributes* attributes = NULL;
  CHECK(maxGraphAddNode(graph, NULL, "Shape", NULL, &x, 1, NULL, &dims, 1));
  MaxGraphValue* gathered[] = {dims, add_int64s(graph, 1, one, (const int64_t[]){0})};
  CHECK(maxGraphAddNode(graph, NULL, "Gather", NULL, gathered, 2, NULL, &first, 1));
  MaxGraphValue* product[] = {first, add_int64s(graph, 0, NULL, (const int64_t[]){2})};
  CHECK(maxGraphAddNode(graph, NULL, "Mul", NULL, product, 2, NULL, &twice, 1));
  MaxGraphValue* parts[] = {twice, add_int64s(graph, 1, one, (const int64_t[]){5})};
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "axis", 0));
  CHECK(maxGraphAddNode(graph, "", "Concat", NULL, parts, 2, attributes, &target, 1));
  maxAttributesRelease(attributes);
  MaxGraphValue* reshaped[] = {x, target};
  CHECK(maxGraphAddNode(graph, NULL, "Reshape", NULL, reshaped, 2, NULL, &y, 1));
  assert_shape(y, 2, (const int64_t[]){-1, 5});
  assert_dimension_name(y, 0, "2*seq");
}

static MaxAttributes* new_attributes(void) {
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  return attributes;
}

/* Adds a node with attributes, which go with the call. */
static MaxStatus add_with(const char* op, MaxGraphValue** inputs, int32_t count, MaxAttributes* attributes,
                          MaxGraphValue** outputs, int32_t output_count) {
  const MaxStatus status = maxGraphAddNode(graph, NULL, op, "n", inputs, count, attributes, outputs, output_count);
  maxAttributesRelease(attributes);
  return status;
}

static void test_all_kinds_of_attributes(void** state) {
  (void)state;
  const int64_t one[] = {1}, seven[] = {7}, shape[] = {4, 6}, swapped[] = {6, 4}, half[] = {4, 3}, three[] = {3};
  MaxGraphValue *x = add_floats(graph, "x", 2, shape, NULL), *out = NULL, *parts[2] = {NULL, NULL};
  MaxAttributes* attributes = new_attributes();
  MaxBuffer* tensor = int64_buffer(1, one, seven);
  CHECK(maxAttributesSetTensor(attributes, "value", tensor));
  maxBufferRelease(tensor);
  CHECK(add_with("Constant", NULL, 0, attributes, &out, 1));
  assert_shape(out, 1, one);

  attributes = new_attributes();
  CHECK(maxAttributesSetFloats(attributes, "value_floats", (const float[]){1, 2, 3}, 3));
  CHECK(add_with("Constant", NULL, 0, attributes, &out, 1));
  assert_shape(out, 1, three);

  attributes = new_attributes();
  CHECK(maxAttributesSetInts(attributes, "perm", (const int64_t[]){1, 0}, 2));
  CHECK(add_with("Transpose", &x, 1, attributes, &out, 1));
  assert_shape(out, 2, swapped);

  attributes = new_attributes();
  CHECK(maxAttributesSetDType(attributes, "to", MAX_DTYPE_FLOAT16));
  CHECK(add_with("Cast", &x, 1, attributes, &out, 1));
  assert_int_equal(value_info(out).dtype, MAX_DTYPE_FLOAT16);

  attributes = new_attributes();
  CHECK(maxAttributesSetInt(attributes, "axis", 7));
  CHECK(maxAttributesSetInt(attributes, "axis", 1)); /* replaces */
  CHECK(add_with("Split", &x, 1, attributes, parts, 2));
  assert_shape(parts[1], 2, half);

  attributes = new_attributes();
  CHECK(maxAttributesSetFloat(attributes, "alpha", 0.5f));
  CHECK(add_with("LeakyRelu", &x, 1, attributes, &out, 1));

  attributes = new_attributes();
  CHECK(maxAttributesSetString(attributes, "approximate", "tanh"));
  CHECK(add_with("Gelu", &x, 1, attributes, &out, 1));

  const int64_t input[] = {5, 1, 8}, gates[] = {1, 16, 8}, steps[] = {5, 1, 1, 16};
  MaxGraphValue* layer[] = {add_floats(graph, "sequence", 3, input, NULL), add_floats(graph, "w", 3, gates, NULL),
                            add_floats(graph, "r", 3, (const int64_t[]){1, 16, 16}, NULL)};
  attributes = new_attributes();
  CHECK(maxAttributesSetStrings(attributes, "activations", (const char* const[]){"Relu"}, 1));
  CHECK(maxAttributesSetFloats(attributes, "activation_alpha", NULL, 0));
  CHECK(add_with("RNN", layer, 3, attributes, &out, 1));
  assert_shape(out, 4, steps);
}

static void test_wrong_attributes(void** state) {
  (void)state;
  const int64_t shape[] = {4, 6};
  MaxGraphValue *x = add_floats(graph, "x", 2, shape, NULL), *out = NULL;
  MaxAttributes* attributes = new_attributes();
  CHECK(maxAttributesSetInt(attributes, "axis", 7));
  CHECK_FAILS(add_with("Softmax", &x, 1, attributes, &out, 1), MAX_STATUS_INVALID_ARGUMENT,
              "node 'n' (Softmax): axis 7 is out of range for rank 2; inputs: 'x' float32[4, 6]");
  attributes = new_attributes();
  CHECK(maxAttributesSetInt(attributes, "axes", 1));
  CHECK_FAILS(add_with("Softmax", &x, 1, attributes, &out, 1), MAX_STATUS_INVALID_ARGUMENT,
              "node 'n' (Softmax): unknown attribute 'axes'; known are axis");
  attributes = new_attributes();
  CHECK(maxAttributesSetInt(attributes, "alpha", 1));
  CHECK_FAILS(add_with("LeakyRelu", &x, 1, attributes, &out, 1), MAX_STATUS_INVALID_ARGUMENT,
              "node 'n' (LeakyRelu): attribute 'alpha' has type int, not float");
  attributes = new_attributes();
  CHECK(maxAttributesSetInt(attributes, "alpha", 1));
  CHECK_FAILS(add_with("Relu", &x, 1, attributes, &out, 1), MAX_STATUS_INVALID_ARGUMENT,
              "unknown attribute 'alpha'; there are none");
}

static void test_omitted_inputs(void** state) {
  (void)state;
  MaxGraphValue* inputs[3] = {add_floats(graph, "x", 1, (const int64_t[]){4}, NULL), NULL,
                              add_floats(graph, "most", 0, NULL, NULL)};
  MaxGraphValue* y = NULL;
  CHECK(maxGraphAddNode(graph, NULL, "Clip", NULL, inputs, 3, NULL, &y, 1));
  MaxGraphValue* none[2] = {inputs[0], NULL};
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Add", "sum", none, 2, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "node 'sum' (Add): input 1 is required");
  assert_null(y);
}

/* If with branches that use an outer value; handles are released before the graph is done. */
static void test_subgraphs(void** state) {
  (void)state;
  MaxGraphValue *condition = NULL, *inner = NULL, *y = NULL;
  MaxGraphValue* x = add_floats(graph, "x", 1, (const int64_t[]){4}, NULL);
  CHECK(maxGraphAddInput(graph, "c", MAX_DTYPE_BOOL, 0, NULL, NULL, &condition));
  MaxGraph *thenGraph = NULL, *elseGraph = NULL;
  CHECK(maxGraphCreateSubgraph(graph, "then", &thenGraph));
  CHECK(maxGraphAddNode(thenGraph, NULL, "Relu", NULL, &x, 1, NULL, &inner, 1));
  CHECK(maxGraphAddOutput(thenGraph, inner, NULL));
  CHECK(maxGraphCreateSubgraph(graph, "else", &elseGraph));
  CHECK(maxGraphAddOutput(elseGraph, x, "same"));

  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK_FAILS(maxAttributesSetGraph(attributes, "then_branch", graph), MAX_STATUS_INVALID_ARGUMENT, "not a subgraph");
  CHECK(maxAttributesSetGraph(attributes, "then_branch", thenGraph));
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "If", "if", &condition, 1, attributes, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "attribute 'else_branch' is missing");
  CHECK(maxAttributesSetGraph(attributes, "else_branch", elseGraph));
  CHECK(maxGraphAddNode(graph, NULL, "If", "if", &condition, 1, attributes, &y, 1));
  assert_shape(y, 1, (const int64_t[]){4});
  CHECK_FAILS(maxGraphAddOutput(thenGraph, inner, "again"), MAX_STATUS_FAILED_PRECONDITION, "'then'");
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Relu", NULL, &inner, 1, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "belongs to another graph");
  maxGraphRelease(thenGraph);
  maxGraphRelease(elseGraph);
  maxAttributesRelease(attributes);
}

/* A Loop whose body reads an outer value and ends with its trip count: state = state + step, and all states stacked. */
static void test_loops_run(void** state) {
  (void)state;
  const int64_t one[] = {1}, ten[] = {10};
  MaxGraph* body = NULL;
  MaxGraphValue *trips = NULL, *step = add_floats(graph, "step", 1, one, NULL);
  CHECK(maxGraphAddInput(graph, "trips", MAX_DTYPE_INT64, 0, NULL, NULL, &trips));
  MaxGraphValue* start = add_floats(graph, "start", 1, one, NULL);
  CHECK(maxGraphCreateSubgraph(graph, "body", &body));
  MaxGraphValue *iteration = NULL, *condition = NULL, *sum = NULL;
  CHECK(maxGraphAddInput(body, "i", MAX_DTYPE_INT64, 0, NULL, NULL, &iteration));
  CHECK(maxGraphAddInput(body, "c", MAX_DTYPE_BOOL, 0, NULL, NULL, &condition));
  MaxGraphValue* operands[] = {add_floats(body, "s", 1, one, NULL), step};
  CHECK(maxGraphAddNode(body, NULL, "Add", NULL, operands, 2, NULL, &sum, 1));
  CHECK(maxGraphAddOutput(body, condition, NULL));
  CHECK(maxGraphAddOutput(body, sum, "next"));
  CHECK(maxGraphAddOutput(body, sum, "seen"));
  MaxAttributes* attributes = new_attributes();
  CHECK(maxAttributesSetGraph(attributes, "body", body));
  maxGraphRelease(body);
  MaxGraphValue *inputs[] = {trips, NULL, start}, *outputs[2] = {NULL, NULL};
  CHECK(add_with("Loop", inputs, 3, attributes, outputs, 2));
  assert_shape(outputs[0], 1, one);
  assert_shape(outputs[1], 2, (const int64_t[]){-1, 1});
  CHECK(maxGraphAddOutput(graph, outputs[0], "last"));
  CHECK(maxGraphAddOutput(graph, outputs[1], "all"));

  MaxSession* session = NULL;
  MaxModel* model = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  MaxBuffer* arguments[3] = {new_buffer(cpu, MAX_DTYPE_FLOAT32, 1, one), int64_buffer(0, NULL, ten),
                             new_buffer(cpu, MAX_DTYPE_FLOAT32, 1, one)};
  MaxBuffer* results[2] = {NULL, NULL};
  *(float*)data_of(arguments[0]) = 0.5f;
  *(float*)data_of(arguments[2]) = 1;
  CHECK(maxModelExecute(model, arguments, 3, NULL, results, 2));
  assert_float_equal(*(float*)data_of(results[0]), 6.0f, 0);
  const int64_t* shape = info_of(results[1]).shape;
  assert_int_equal(shape[0], 10);
  assert_float_equal(((float*)data_of(results[1]))[3], 3.0f, 0);
  for (size_t i = 0; i < 3; ++i) maxBufferRelease(arguments[i]);
  for (size_t i = 0; i < 2; ++i) maxBufferRelease(results[i]);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* Attributes and subgraphs hold what they came from, so every order of release is legal. */
static void test_attributes_outlive_their_graph(void** state) {
  (void)state;
  MaxGraph *parent = NULL, *child = NULL;
  MaxAttributes* attributes = NULL;
  MaxGraphValue* y = NULL;
  CHECK(maxGraphCreate(NULL, &parent));
  MaxGraphValue* x = add_floats(parent, "x", 1, (const int64_t[]){4}, NULL);
  CHECK(maxGraphCreateSubgraph(parent, NULL, &child));
  CHECK(maxGraphAddNode(child, NULL, "Relu", NULL, &x, 1, NULL, &y, 1));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetGraph(attributes, "body", child));
  maxGraphRelease(parent);
  maxGraphRelease(child);
  assert_shape(y, 1, (const int64_t[]){4});
  maxAttributesRelease(attributes);
}

static void test_devices(void** state) {
  (void)state;
  MaxGraphValue* inputs[2] = {NULL, NULL};
  MaxGraphValue* y = NULL;
  const int64_t shape[] = {4};
  MaxGraphInputOptions here = MAX_GRAPH_INPUT_OPTIONS_INIT;
  here.device = cpu;
  CHECK(maxGraphAddInput(graph, "a", MAX_DTYPE_FLOAT32, 1, shape, &here, &inputs[0]));
  CHECK(maxGraphAddInput(graph, "b", MAX_DTYPE_FLOAT32, 1, shape, NULL, &inputs[1]));
  CHECK(maxGraphAddNode(graph, NULL, "Add", NULL, inputs, 2, NULL, &y, 1));
  assert_ptr_equal(value_info(y).device, cpu);
  assert_true(value_info(y).validMask & MAX_TENSOR_INFO_DEVICE);
  assert_null(value_info(inputs[1]).device);
  assert_false(value_info(inputs[1]).validMask & MAX_TENSOR_INFO_DEVICE);
}

static MaxAttributes* rebind_attributes(const char* message, const char* name) {
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  if (message) CHECK(maxAttributesSetString(attributes, "message", message));
  if (name) CHECK(maxAttributesSetStrings(attributes, "names", &name, 1));
  return attributes;
}

/* An unknown dimension gets a number, which it also keeps in derived values. */
static void test_unknown_dimensions_have_names(void** state) {
  (void)state;
  const int64_t shape[] = {-1, 3};
  MaxGraphValue *x = add_floats(graph, "x", 2, shape, NULL), *y = NULL, *z = NULL, *found = NULL, *moved = NULL;
  MaxGraphValue* twice[2] = {NULL, NULL};
  MaxAttributes* attributes = NULL;
  CHECK(maxGraphAddNode(graph, NULL, "Relu", NULL, &x, 1, NULL, &y, 1));
  const char* name = value_info(x).dimensionNames[0];
  assert_true(name && name[0] == '?');
  assert_string_equal(value_info(x).typeName, "float32[?, 3]");
  assert_dimension_name(y, 0, name);
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "axis", 0));
  twice[0] = x, twice[1] = y;
  CHECK(maxGraphAddNode(graph, NULL, "Concat", NULL, twice, 2, attributes, &z, 1));
  char expected[32];
  (void)snprintf(expected, sizeof expected, "2*%s", name);
  assert_dimension_name(z, 0, expected);
  CHECK(maxGraphAddNode(graph, NULL, "NonZero", NULL, &z, 1, NULL, &found, 1));
  assert_true(value_info(found).dimensionNames[1] && strcmp(value_info(found).dimensionNames[1], name) != 0);
  CHECK(maxGraphAddNode(graph, NULL, "Transpose", NULL, &found, 1, NULL, &moved, 1));
  assert_dimension_name(moved, 0, value_info(found).dimensionNames[1]);
  maxAttributesRelease(attributes);
}

static void test_inputs_like_values(void** state) {
  (void)state;
  const int64_t shape[] = {-1, 4};
  const char* names[] = {"n", NULL};
  MaxGraphInputOptions here = MAX_GRAPH_INPUT_OPTIONS_INIT;
  MaxGraph *body = NULL, *other = NULL;
  MaxGraphValue *x = NULL, *both = NULL, *input = NULL, *foreign = NULL;
  MaxAttributes* attributes = NULL;
  here.device = cpu, here.dimensionNames = names;
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT16, 2, shape, &here, &x));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "axis", 0));
  CHECK(maxGraphAddNode(graph, NULL, "Concat", NULL, (MaxGraphValue*[]){x, x}, 2, attributes, &both, 1));
  CHECK(maxGraphCreateSubgraph(graph, "body", &body));
  CHECK(maxGraphAddInputLike(body, "carried", both, &input));
  assert_string_equal(value_info(input).typeName, "float16[2*n, 4]");
  assert_ptr_equal(value_info(input).device, cpu);
  CHECK_FAILS(maxGraphAddInputLike(body, "carried", x, &input), MAX_STATUS_INVALID_ARGUMENT, "'carried' is used twice");
  CHECK(maxGraphCreate("other", &other));
  CHECK_FAILS(maxGraphAddInputLike(other, "y", x, &foreign), MAX_STATUS_INVALID_ARGUMENT,
              "'x' belongs to another graph");
  assert_null(foreign);
  maxGraphRelease(other);
  maxGraphRelease(body);
  maxAttributesRelease(attributes);
}

/* Rebind is checked where both shapes are known, else by each call. */
static void test_rebind(void** state) {
  (void)state;
  const int64_t shape[] = {-1}, one[] = {1}, four[] = {4}, any[] = {-1};
  const char* names[] = {"n"};
  MaxGraphValue* x = add_floats(graph, "x", 1, shape, names);
  MaxGraphValue *bound = NULL, *named = NULL, *wrong = NULL, *y = NULL;
  MaxAttributes *message = rebind_attributes("four it is", NULL), *name = rebind_attributes(NULL, "m");
  CHECK(maxGraphAddNode(graph, "max", "Rebind", NULL, (MaxGraphValue*[]){x, add_int64s(graph, 1, one, any)}, 2, name,
                        &named, 1));
  assert_dimension_name(named, 0, "m");
  CHECK(maxGraphAddNode(graph, "max", "Rebind", "promise", (MaxGraphValue*[]){named, add_int64s(graph, 1, one, four)},
                        2, message, &bound, 1));
  assert_shape(bound, 1, four);
  CHECK_FAILS(
      maxGraphAddNode(graph, "max", "Rebind", NULL,
                      (MaxGraphValue*[]){bound, add_int64s(graph, 1, one, (const int64_t[]){5})}, 2, NULL, &wrong, 1),
      MAX_STATUS_INVALID_ARGUMENT, "dimension 0 is 4, expected 5");
  CHECK_FAILS(
      maxGraphAddNode(graph, "max", "Rebind", NULL,
                      (MaxGraphValue*[]){bound, add_int64s(graph, 1, (const int64_t[]){2}, (const int64_t[]){4, 1})}, 2,
                      NULL, &wrong, 1),
      MAX_STATUS_INVALID_ARGUMENT, "");
  CHECK_FAILS(
      maxGraphAddNode(graph, "max", "Rebind", NULL,
                      (MaxGraphValue*[]){x, add_int64s(graph, 1, one, (const int64_t[]){-2})}, 2, NULL, &wrong, 1),
      MAX_STATUS_INVALID_ARGUMENT, "expected -2");
  CHECK_FAILS(maxGraphAddNode(graph, "max", "MatMul", NULL, (MaxGraphValue*[]){x, x}, 2, NULL, &wrong, 1),
              MAX_STATUS_UNIMPLEMENTED, "reserved for the compiler");
  CHECK(maxGraphAddNode(graph, NULL, "Neg", NULL, &bound, 1, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  maxAttributesRelease(name);
  maxAttributesRelease(message);
}

static void test_wrong_inputs(void** state) {
  (void)state;
  const int64_t shape[] = {2, -5}, two[] = {2, 3}, huge[] = {INT64_MAX, 8};
  const char* names[] = {"rows", NULL};
  MaxGraphValue* value = (MaxGraphValue*)graph;
  CHECK_FAILS(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, shape, NULL, &value), MAX_STATUS_INVALID_ARGUMENT,
              "dimension 1 is -5");
  assert_null(value);
  CHECK_FAILS(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, two, NAMED(names), &value),
              MAX_STATUS_INVALID_ARGUMENT, "'rows'");
  CHECK_FAILS(maxGraphAddInput(graph, "x", 3, 2, two, NULL, &value), MAX_STATUS_INVALID_ARGUMENT,
              "Data type 3 does not exist");
  CHECK_FAILS(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 17, two, NULL, &value), MAX_STATUS_INVALID_ARGUMENT,
              "Rank 17");
  CHECK_FAILS(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, MAX_RANK_DYNAMIC, NULL, NULL, &value),
              MAX_STATUS_INVALID_ARGUMENT, "Rank -1");
  CHECK_FAILS(maxGraphAddInput(graph, "", MAX_DTYPE_FLOAT32, 2, two, NULL, &value), MAX_STATUS_INVALID_ARGUMENT,
              "'name' is empty");
  CHECK_FAILS(maxGraphAddWeight(graph, "w", MAX_DTYPE_FLOAT32, 2, huge, NULL, &value), MAX_STATUS_OUT_OF_RANGE,
              "overflow");
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, two, NULL, &value));
  CHECK_FAILS(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, two, NULL, &value), MAX_STATUS_INVALID_ARGUMENT,
              "'x' is used twice");
  CHECK_FAILS(maxGraphFindValue(graph, "z", &value), MAX_STATUS_NOT_FOUND, "has no value 'z'");
  CHECK_FAILS(maxGraphGetInput(graph, 1, &value), MAX_STATUS_OUT_OF_RANGE, "Input 1 does not exist");
  CHECK_FAILS(maxGraphGetOutput(graph, -1, &value), MAX_STATUS_OUT_OF_RANGE, "Output -1 does not exist");
}

static void test_wrong_nodes(void** state) {
  (void)state;
  MaxGraphValue* inputs[2] = {add_floats(graph, "a", 2, (const int64_t[]){2, 3}, NULL),
                              add_floats(graph, "b", 2, (const int64_t[]){4, 5}, NULL)};
  MaxGraphValue *y = inputs[0], *ten[10];
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Add", "sum", inputs, 2, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "node 'sum' (Add): shapes [2, 3] and [4, 5] do not broadcast: 2 and 4 disagree at axis 0; inputs: "
              "'a' float32[2, 3], 'b' float32[4, 5]");
  assert_null(y);
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "MatMul", "p", inputs, 2, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "the inner dimensions disagree: 3 and 4");
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Not", "n", inputs, 1, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "input 0 cannot be float32; allowed are bool");
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Relu", "r", inputs, 2, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "has 2 inputs, needs 1");
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Relu", "r", inputs, 1, NULL, ten, 10), MAX_STATUS_INVALID_ARGUMENT,
              "has 10 outputs, needs 1");
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Rely", "r", inputs, 1, NULL, &y, 1), MAX_STATUS_UNIMPLEMENTED,
              "unknown operator 'Rely'; did you mean 'Relu'?");
  CHECK_FAILS(maxGraphAddNode(graph, "max", "Elementwise", NULL, inputs, 1, NULL, &y, 1), MAX_STATUS_UNIMPLEMENTED,
              "max.Elementwise");
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "Relu", NULL, inputs, -1, NULL, &y, 1), MAX_STATUS_INVALID_ARGUMENT,
              "'inputs' is -1");
  int32_t count = -1;
  CHECK(maxGraphGetNodeCount(graph, &count));
  assert_int_equal(count, 0);
}

static void test_null_arguments(void** state) {
  (void)state;
  MaxAttributes* attributes = NULL;
  MaxGraphValue* value = NULL;
  int32_t count = 0;
  const char* name = NULL;
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  MaxGraph* other = NULL;
  maxGraphRetain(NULL);
  maxGraphRelease(NULL);
  maxAttributesRetain(NULL);
  maxAttributesRelease(NULL);
  CHECK(maxAttributesCreate(&attributes));
  const MaxStatus results[] = {
      maxGraphCreate(NULL, NULL),
      maxGraphCreateSubgraph(NULL, NULL, &other),
      maxGraphGetName(NULL, &name),
      maxGraphGetName(graph, NULL),
      maxGraphAddInput(NULL, "x", MAX_DTYPE_BOOL, 0, NULL, NULL, &value),
      maxGraphAddInput(graph, NULL, MAX_DTYPE_BOOL, 0, NULL, NULL, &value),
      maxGraphAddInput(graph, "x", MAX_DTYPE_BOOL, 1, NULL, NULL, &value),
      maxGraphAddInput(graph, "x", MAX_DTYPE_BOOL, 0, NULL, NULL, NULL),
      maxGraphAddConstant(graph, NULL, NULL, &value),
      maxGraphAddWeight(graph, NULL, MAX_DTYPE_BOOL, 0, NULL, NULL, &value),
      maxGraphAddNode(NULL, NULL, "Add", NULL, NULL, 0, NULL, &value, 1),
      maxGraphAddNode(graph, NULL, NULL, NULL, NULL, 0, NULL, &value, 1),
      maxGraphAddNode(graph, NULL, "Add", NULL, NULL, 2, NULL, &value, 1),
      maxGraphAddNode(graph, NULL, "Add", NULL, NULL, 0, NULL, NULL, 1),
      maxGraphAddOutput(graph, NULL, NULL),
      maxGraphAddOutput(NULL, NULL, NULL),
      maxGraphGetInputCount(NULL, &count),
      maxGraphGetOutputCount(graph, NULL),
      maxGraphGetNodeCount(NULL, &count),
      maxGraphGetInput(NULL, 0, &value),
      maxGraphGetOutput(NULL, 0, &value),
      maxGraphGetOutputName(NULL, 0, &name),
      maxGraphFindValue(graph, NULL, &value),
      maxGraphValueGetGraph(NULL, &other),
      maxGraphValueGetInfo(NULL, &info),
      maxGraphValueGetInfo(value, NULL),
      maxAttributesCreate(NULL),
      maxAttributesSetInt(NULL, "x", 1),
      maxAttributesSetInt(attributes, NULL, 1),
      maxAttributesSetInt(attributes, "", 1),
      maxAttributesSetInts(attributes, "x", NULL, 1),
      maxAttributesSetInts(attributes, "x", NULL, -1),
      maxAttributesSetDType(attributes, "x", 12345),
      maxAttributesSetFloats(attributes, "x", NULL, 1),
      maxAttributesSetString(attributes, "x", NULL),
      maxAttributesSetStrings(attributes, "x", (const char* const[]){NULL}, 1),
      maxAttributesSetTensor(attributes, "x", NULL),
      maxAttributesSetGraph(attributes, "x", NULL),
  };
  for (size_t i = 0; i < sizeof results / sizeof *results; ++i)
    if (results[i] != MAX_STATUS_INVALID_ARGUMENT) fail_msg("call %zu gave %s", i, maxStatusGetName(results[i]));
  maxAttributesRelease(attributes);
}

#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      GRAPH_TEST(test_builds_a_graph_with_symbols),
      GRAPH_TEST(test_follows_shape_arithmetic),
      GRAPH_TEST(test_all_kinds_of_attributes),
      GRAPH_TEST(test_wrong_attributes),
      GRAPH_TEST(test_omitted_inputs),
      GRAPH_TEST(test_subgraphs),
      GRAPH_TEST(test_loops_run),
      GRAPH_TEST(test_attributes_outlive_their_graph),
      GRAPH_TEST(test_devices),
      GRAPH_TEST(test_unknown_dimensions_have_names),
      GRAPH_TEST(test_inputs_like_values),
      GRAPH_TEST(test_rebind),
      GRAPH_TEST(test_wrong_inputs),
      GRAPH_TEST(test_wrong_nodes),
      GRAPH_TEST(test_null_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
