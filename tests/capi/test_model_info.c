/* SPDX-License-Identifier: Apache-2.0 */
/* What models and their files tell of themselves: inputs, outputs and weights, however the model came to be. */
#define _GNU_SOURCE
#include <unistd.h>

#include "models.h"

#define MODEL(name) MAX_TEST_DATA "/models/" name ".onnx"

static MaxTensorInfo weight_of(const MaxModelInfo* info, int32_t index) {
  MaxTensorInfo weight = MAX_TENSOR_INFO_INIT;
  CHECK(maxModelInfoGetWeight(info, index, &weight));
  return weight;
}

static void expect_type(const MaxTensorInfo* info, const char* name, const char* type) {
  assert_string_equal(info->name, name);
  assert_string_equal(info->typeName, type);
}

/* y = x * w + c, with weights w (built in code) and a constant c. */
static MaxGraph* linear_graph(void) {
  static const char* const names[] = {"batch", NULL};
  MaxGraph* graph = new_graph("linear");
  MaxGraphValue *x = NULL, *w = NULL, *c = NULL;
  MaxBuffer* ones = new_square(3, 1);
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){-1, 3}, NAMED(names), &x));
  CHECK(maxGraphAddWeight(graph, "w", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){3, 3}, NULL, &w));
  CHECK(maxGraphAddConstant(graph, "c", ones, &c));
  MaxGraphValue* product = add_node(graph, "MatMul", "multiply", x, add_node(graph, "Add", "shift", w, c));
  MaxGraphValue* twice[] = {product, product};
  MaxGraphValue* y = NULL;
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "axis", 0));
  CHECK(maxGraphAddNode(graph, NULL, "Concat", "double", twice, 2, attributes, &y, 1));
  maxAttributesRelease(attributes);
  CHECK(maxGraphAddOutput(graph, y, "y"));
  maxBufferRelease(ones);
  return graph;
}

static MaxModel* linear_model(MaxSession* session) {
  MaxGraph* graph = linear_graph();
  MaxModel* model = NULL;
  MaxBuffer* w = new_square(3, 2);
  const char* name = "w";
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  options.weightNames = &name;
  options.weights = &w;
  options.weightCount = 1;
  CHECK(maxModelCompile(session, graph, &options, &model));
  maxBufferRelease(w);
  maxGraphRelease(graph);
  return model;
}

static void expect_linear(const MaxModelInfo* info, int32_t weights) {
  int32_t inputs = 0, outputs = 0, count = 0;
  MaxTensorInfo tensor = MAX_TENSOR_INFO_INIT;
  CHECK(maxModelInfoGetInputCount(info, &inputs));
  CHECK(maxModelInfoGetOutputCount(info, &outputs));
  CHECK(maxModelInfoGetWeightCount(info, &count));
  assert_int_equal(inputs, 1);
  assert_int_equal(outputs, 1);
  assert_int_equal(count, weights);
  CHECK(maxModelInfoGetInput(info, 0, &tensor));
  expect_type(&tensor, "x", "float32[batch, 3]");
  assert_null(tensor.device);
  assert_int_equal(tensor.validMask & MAX_TENSOR_INFO_DEVICE, 0);
  CHECK(maxModelInfoGetOutput(info, 0, &tensor));
  expect_type(&tensor, "y", "float32[2*batch, 3]");
  assert_int_equal(tensor.shape[0], MAX_DIMENSION_DYNAMIC);
  assert_string_equal(tensor.dimensionNames[0], "2*batch");
}

static void built_and_compiled_models_tell_what_they_hold(void** state) {
  (void)state;
  char path[] = "/tmp/max-test-XXXXXX";
  assert_true(mkstemp(path) >= 0);
  MaxSession* session = new_session(0);
  MaxModel *model = linear_model(session), *compiled = NULL;
  MaxModelInfo* info = NULL;
  int64_t parameters = 0;
  CHECK(maxModelGetInfo(model, &info));
  expect_linear(info, 1);
  const MaxTensorInfo weight = weight_of(info, 0);
  expect_type(&weight, "w", "float32[3, 3]");
  assert_int_equal(weight.validMask, 255 - MAX_TENSOR_INFO_DEVICE);
  CHECK(maxModelInfoGetParameterCount(info, &parameters));
  assert_int_equal(parameters, 9);

  CHECK(maxModelSave(model, path));
  maxModelRelease(model);
  CHECK(maxModelLoad(session, path, NULL, &compiled));
  CHECK(maxModelGetInfo(compiled, &info));
  expect_linear(info, 0); /* the product's right-hand side was folded */
  maxModelInfoRetain(info);
  maxModelRelease(compiled);
  expect_linear(info, 0);
  maxModelInfoRelease(info);
  maxSessionRelease(session);
  unlink(path);
}

static void files_list_their_weights(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  MaxModelInfo *file = NULL, *loaded = NULL;
  CHECK(maxModelInfoLoad(MODEL("linear"), &file));
  CHECK(maxModelLoad(session, MODEL("linear"), NULL, &model));
  CHECK(maxModelGetInfo(model, &loaded));
  const MaxModelInfo* both[] = {file, loaded};
  for (int i = 0; i < 2; ++i) {
    int32_t count = 0;
    CHECK(maxModelInfoGetWeightCount(both[i], &count));
    assert_int_equal(count, 1);
    MaxTensorInfo weight = weight_of(both[i], 0);
    expect_type(&weight, "weight", "float32[2, 3]");
    assert_int_equal(weight.kind, MAX_VALUE_KIND_TENSOR);
    assert_int_equal(weight.dtype, MAX_DTYPE_FLOAT32);
    assert_memory_equal(weight.shape, ((const int64_t[]){2, 3}), 2 * sizeof(int64_t));
    CHECK_FAILS(maxModelInfoGetWeight(both[i], 1, &weight), MAX_STATUS_OUT_OF_RANGE, "Weight 1 does not exist");
  }
  maxModelInfoRelease(file);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void older_programs_get_the_fields_that_they_know(void** state) {
  (void)state;
  MaxModelInfo* info = NULL;
  CHECK(maxModelInfoLoad(MODEL("add"), &info));
  MaxTensorInfo input = MAX_TENSOR_INFO_INIT;
  input.structSize = offsetof(MaxTensorInfo, shape);
  input.shape = (const int64_t*)&input;
  CHECK(maxModelInfoGetInput(info, 0, &input));
  assert_int_equal(input.rank, 2);
  assert_ptr_equal(input.shape, &input); /* not written */
  input.structSize = 0;
  CHECK_FAILS(maxModelInfoGetInput(info, 0, &input), MAX_STATUS_INVALID_ARGUMENT, "structSize of MaxTensorInfo is 0");
  maxModelInfoRelease(info);
}

static void nulls_are_refused(void** state) {
  (void)state;
  int32_t count = 0;
  MaxTensorInfo tensor = MAX_TENSOR_INFO_INIT;
  MaxModelInfo* info = NULL;
  CHECK(maxModelInfoLoad(MODEL("add"), &info));
  CHECK_FAILS(maxModelInfoGetInputCount(NULL, &count), MAX_STATUS_INVALID_ARGUMENT, "info");
  CHECK_FAILS(maxModelInfoGetInput(NULL, 0, &tensor), MAX_STATUS_INVALID_ARGUMENT, "info");
  CHECK_FAILS(maxModelInfoGetInput(info, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "outInfo");
  CHECK_FAILS(maxModelInfoGetOutput(info, 9, &tensor), MAX_STATUS_OUT_OF_RANGE, "Output 9");
  CHECK_FAILS(maxModelInfoGetWeightCount(info, NULL), MAX_STATUS_INVALID_ARGUMENT, "outCount");
  CHECK_FAILS(maxModelInfoGetWeight(info, -1, &tensor), MAX_STATUS_OUT_OF_RANGE, "Weight -1");
  maxModelInfoRelease(info);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(built_and_compiled_models_tell_what_they_hold),
      TEST(files_list_their_weights),
      TEST(older_programs_get_the_fields_that_they_know),
      TEST(nulls_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
