/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings: the graph as a file has it, and as a model runs it. */
#include "models.h"

static int count_of(const char* text, const char* part) {
  int count = 0;
  for (const char* found = text; (found = strstr(found, part)); found += strlen(part)) ++count;
  return count;
}

static void expect_dot(const char* text) {
  assert_non_null(text);
  assert_memory_equal(text, "digraph", 7);
  assert_int_equal(count_of(text, "{"), count_of(text, "}"));
}

/* What the compiler takes away is not drawn. */
static void test_a_model_draws_what_it_runs(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxGraph* graph = new_graph("drawn");
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){-1, -1});
  MaxGraphValue* same = add_node(graph, "Identity", "same", add_node(graph, "MatMul", "square", x, x), NULL);
  CHECK(maxGraphAddOutput(graph, add_node(graph, "MatMul", "cube", same, x), "y"));
  MaxModel* model = compile(session, graph);
  const char *text = NULL, *again = NULL;
  CHECK(maxModelGetGraph(model, &text));
  expect_dot(text);
  assert_non_null(strstr(text, "MatMul"));
  assert_null(strstr(text, "Identity"));
  CHECK(maxModelGetGraph(model, &again));
  assert_ptr_equal(again, text);
  CHECK_FAILS(maxModelGetGraph(model, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outDot'");
  CHECK_FAILS(maxModelGetGraph(NULL, &again), MAX_STATUS_INVALID_ARGUMENT, "'model'");

  MaxModelInfo* info = NULL;
  CHECK(maxModelGetInfo(model, &info));
  CHECK_FAILS(maxModelInfoGetGraph(info, &again), MAX_STATUS_FAILED_PRECONDITION, "");
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void test_a_file_is_drawn_as_it_is(void** state) {
  (void)state;
  MaxModelInfo* info = NULL;
  const char *text = NULL, *name = NULL;
  int32_t operators = 0;
  CHECK(maxModelInfoLoad(MAX_TEST_DATA "/models/branch.onnx", &info));
  CHECK(maxModelInfoGetGraph(info, &text));
  expect_dot(text);
  CHECK(maxModelInfoGetOperatorCount(info, &operators));
  assert_true(operators > 0);
  for (int32_t i = 0; i < operators; ++i) {
    CHECK(maxModelInfoGetOperatorName(info, i, &name));
    assert_non_null(strstr(text, name));
  }
  maxModelInfoRelease(info);
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_a_model_draws_what_it_runs), TEST(test_a_file_is_drawn_as_it_is)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
