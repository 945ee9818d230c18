/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator's infer is told of its inputs. */
#include "extension_fixture.h"

/* Of the first input, as infer saw it last. */
static struct seen {
  int32_t rank;
  int64_t dimensions[4];
  MaxStatus outside[3];
  char message[200];
} seen;

static MaxStatus infer_halves(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  int64_t out[4], unused = 7;
  (void)user_data;
  (void)node;
  if (maxShapeContextGetInputRank(context, 0, &seen.rank)) return MAX_STATUS_INTERNAL;
  for (int32_t axis = 0; axis < seen.rank; ++axis) {
    const MaxStatus status = maxShapeContextGetInputDimension(context, 0, axis, &seen.dimensions[axis]);
    if (status != MAX_STATUS_OK) return status;
    out[axis] = seen.dimensions[axis] < 0 ? MAX_DIMENSION_DYNAMIC : seen.dimensions[axis] / 2;
  }
  seen.outside[0] = maxShapeContextGetInputDimension(context, 0, -1, &unused);
  seen.outside[1] = maxShapeContextGetInputDimension(context, 1, 0, &unused);
  seen.outside[2] = maxShapeContextGetInputDimension(context, 0, seen.rank, &unused);
  snprintf(seen.message, sizeof seen.message, "%s", maxGetLastErrorMessage());
  if (unused != 7) return MAX_STATUS_INTERNAL;
  return maxShapeContextSetOutputShape(context, 0, seen.rank, out);
}

static MaxStatus halves(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  (void)user_data;
  (void)node;
  (void)state;
  for (int64_t i = 0; i < call->outputElementCounts[0]; ++i)
    ((float*)call->outputs[0])[i] = ((const float*)call->inputs[0])[i];
  return MAX_STATUS_OK;
}

static const MaxOperator* operator_halves(void) {
  static MaxOperator row = MAX_OPERATOR_INIT;
  row.domain = "shapes";
  row.name = "Halves";
  row.types = "T->T; T=float32";
  row.minInputs = row.maxInputs = row.minOutputs = row.maxOutputs = 1;
  row.infer = infer_halves;
  row.execute = halves;
  return &row;
}

static MaxGraphValue* add_halves(MaxGraphValue* x) {
  MaxGraphValue* y = NULL;
  memset(&seen, 0, sizeof seen);
  CHECK(maxGraphAddNode(graph, "shapes", "Halves", "it", &x, 1, NULL, &y, 1));
  return y;
}

static void test_dimensions_of_inputs(void** state) {
  (void)state;
  const MaxOperator* const rows[] = {operator_halves()};
  CHECK(add_rows("shapes", rows, 1));
  MaxGraphValue* y = add_halves(add_input(graph, "x", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){6, -1}));
  assert_int_equal(seen.rank, 2);
  assert_int_equal(seen.dimensions[0], 6);
  assert_int_equal(seen.dimensions[1], MAX_DIMENSION_DYNAMIC);
  for (size_t i = 0; i < COUNT_OF(seen.outside); ++i) assert_int_equal(seen.outside[i], MAX_STATUS_OUT_OF_RANGE);
  assert_non_null(strchr(seen.message, '2'));
  add_halves(y); /* what it said itself is what the next one is told */
  assert_int_equal(seen.dimensions[0], 3);

  /* When the model runs, every dimension is known. */
  MaxModel* model = model_of(y);
  MaxDevice* cpu = open_cpu();
  MaxBuffer *input = new_buffer(cpu, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){6, 10}), *output = NULL;
  memset(data_of(input), 0, 60 * sizeof(float));
  CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
  assert_int_equal(seen.dimensions[1], 10);
  assert_int_equal(info_of(output).shape[1], 5);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_dimensions_of_inputs, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
