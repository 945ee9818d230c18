/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of graphs built in code begin and end with: a device and an empty graph. */
#ifndef MAX_TESTS_CAPI_GRAPH_FIXTURE_H
#define MAX_TESTS_CAPI_GRAPH_FIXTURE_H

#include "check.h"

static MaxDevice* cpu;
static MaxGraph* graph;

static int set_up(void** state) {
  (void)state;
  cpu = open_cpu();
  CHECK(maxGraphCreate("test", &graph));
  return 0;
}

static int tear_down(void** state) {
  maxGraphRelease(graph);
  maxDeviceRelease(cpu);
  return check_no_leaks(state);
}

#endif
