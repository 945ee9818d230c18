/* SPDX-License-Identifier: Apache-2.0 */
/* A session that knows the operators of extension_operators.h, and an empty graph. */
#ifndef MAX_TESTS_CAPI_EXTENSION_FIXTURE_H
#define MAX_TESTS_CAPI_EXTENSION_FIXTURE_H

#include "extension_operators.h"
#include "models.h"

static inline MaxStatus add_rows(const char* name, const MaxOperator* const* operators, int32_t count) {
  MaxExtensionTable table = MAX_EXTENSION_TABLE_INIT;
  table.abiVersion = MAX_EXTENSION_ABI_VERSION;
  table.operatorCount = count;
  table.operators = operators;
  return maxExtensionAdd(name, &table);
}

static MaxSession* session;
static MaxGraph* graph;

static inline int set_up(void** state) {
  const MaxOperator* operators[COUNT_OF(operators_of_tests)];
  (void)state;
  for (size_t i = 0; i < COUNT_OF(operators_of_tests); ++i) operators[i] = &operators_of_tests[i];
  session = new_session(0);
  graph = new_graph("test");
  CHECK(add_rows("tests", operators, COUNT_OF(operators_of_tests)));
  executions = 0;
  return 0;
}

static inline int tear_down(void** state) {
  maxGraphRelease(graph);
  maxSessionRelease(session);
  if (states != 0) print_error("%d states are still there\n", states);
  return check_no_leaks(state) || states != 0 ? -1 : 0;
}

/* A model of the graph with this output. */
static inline MaxModel* model_of(MaxGraphValue* output) {
  MaxModel* model = NULL;
  CHECK(maxGraphAddOutput(graph, output, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  return model;
}

#endif
