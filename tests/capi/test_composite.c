/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are made of others, added to graphs built in code. */
#include "graph_fixture.h"

static MaxGraphValue* add_floats(const char* name, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  MaxGraphValue* value = NULL;
  CHECK(maxGraphAddInput(graph, name, MAX_DTYPE_FLOAT32, 2, shape, NULL, &value));
  return value;
}

static void test_einsum_runs(void** state) {
  (void)state;
  MaxGraphValue *inputs[] = {add_floats("a", 2, 3), add_floats("b", 2, 3)}, *product = NULL;
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetString(attributes, "equation", "ij,kj->ik"));
  CHECK(maxGraphAddNode(graph, NULL, "Einsum", "product", inputs, 2, attributes, &product, 1));
  maxAttributesRelease(attributes);
  CHECK(maxGraphAddOutput(graph, product, "y"));

  MaxSession* session = NULL;
  MaxModel* model = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 0, 1, 1};
  const int64_t shape[] = {2, 3};
  MaxBuffer *buffers[2] = {NULL, NULL}, *result = NULL;
  CHECK(maxBufferWrap(cpu, a, MAX_DTYPE_FLOAT32, 2, shape, NULL, &buffers[0]));
  CHECK(maxBufferWrap(cpu, b, MAX_DTYPE_FLOAT32, 2, shape, NULL, &buffers[1]));
  CHECK(maxModelExecute(model, buffers, 2, NULL, &result, 1));
  const void* data = NULL;
  CHECK(maxBufferGetData(result, &data));
  const float expected[] = {1, 5, 4, 11};
  assert_memory_equal(data, expected, sizeof expected);
  maxBufferRelease(result);
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void test_failures_leave_the_graph_as_it_was(void** state) {
  (void)state;
  MaxGraphValue *inputs[] = {add_floats("a", 2, 3), add_floats("b", 2, 4)}, *made = NULL;
  CHECK_FAILS(maxGraphAddNode(graph, NULL, "SwiGLU", "gate", inputs, 2, NULL, &made, 1), MAX_STATUS_INVALID_ARGUMENT,
              "node 'gate' (SwiGLU): input 1 has the shape [2, 4], needs [2, 3]");
  assert_null(made);
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetString(attributes, "activation", "Relu"));
  CHECK_FAILS(maxGraphAddNode(graph, "com.microsoft", "FusedConv", "conv", inputs, 2, attributes, &made, 1),
              MAX_STATUS_INVALID_ARGUMENT, "node 'conv' (com.microsoft.FusedConv)");
  maxAttributesRelease(attributes);
  int32_t count = -1;
  CHECK(maxGraphGetNodeCount(graph, &count));
  assert_int_equal(count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_einsum_runs, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_failures_leave_the_graph_as_it_was, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
