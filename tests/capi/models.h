/* SPDX-License-Identifier: Apache-2.0 */
/* Small models for tests of how models run, built in code. */
#ifndef MAX_TESTS_CAPI_MODELS_H
#define MAX_TESTS_CAPI_MODELS_H

#include <time.h>

#include "check.h"

static inline MaxSession* new_session(uint64_t memory_limit) {
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = 2;
  options.memoryLimit = memory_limit;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(&options, &session));
  return session;
}

/* The graph is released. */
static inline MaxModel* compile(MaxSession* session, MaxGraph* graph) {
  MaxModel* model = NULL;
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxGraphRelease(graph);
  return model;
}

static inline MaxGraph* new_graph(const char* name) {
  MaxGraph* graph = NULL;
  CHECK(maxGraphCreate(name, &graph));
  return graph;
}

static inline MaxGraphValue* add_input(MaxGraph* graph, const char* name, MaxDType dtype, int32_t rank,
                                       const int64_t* shape) {
  static const char* const symbols[] = {"n", "n"};
  MaxGraphValue* value = NULL;
  const int is_square = rank == 2 && shape[0] < 0;
  CHECK(maxGraphAddInput(graph, name, dtype, rank, shape, is_square ? NAMED(symbols) : NULL, &value));
  return value;
}

static inline MaxGraphValue* add_node(MaxGraph* graph, const char* op, const char* name, MaxGraphValue* a,
                                      MaxGraphValue* b) {
  MaxGraphValue* inputs[] = {a, b};
  MaxGraphValue* output = NULL;
  CHECK(maxGraphAddNode(graph, NULL, op, name, inputs, b ? 2 : 1, NULL, &output, 1));
  return output;
}

/* y = x * x * x ..., x a square matrix of any size. */
static inline MaxModel* new_power(MaxSession* session, int count) {
  MaxGraph* graph = new_graph("power");
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){-1, -1});
  MaxGraphValue* y = x;
  char name[32];
  for (int i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "product%d", i);
    y = add_node(graph, "MatMul", name, y, x);
  }
  CHECK(maxGraphAddOutput(graph, y, "y"));
  return compile(session, graph);
}

/* A node with one output and one input, which is a vector of any length. */
static inline MaxModel* new_unary(MaxSession* session, const char* op, const char* name) {
  MaxGraph* graph = new_graph(op);
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1});
  CHECK(maxGraphAddOutput(graph, add_node(graph, op, name, x, NULL), "y"));
  return compile(session, graph);
}

/* A Loop that never ends: state = state + step. */
static inline MaxModel* new_endless(MaxSession* session) {
  const int64_t one[] = {1};
  MaxGraph *graph = new_graph("endless"), *body = NULL;
  MaxGraphValue* step = add_input(graph, "step", MAX_DTYPE_FLOAT32, 1, one);
  MaxGraphValue* start = add_input(graph, "start", MAX_DTYPE_FLOAT32, 1, one);
  CHECK(maxGraphCreateSubgraph(graph, "body", &body));
  (void)add_input(body, "i", MAX_DTYPE_INT64, 0, NULL);
  MaxGraphValue* condition = add_input(body, "c", MAX_DTYPE_BOOL, 0, NULL);
  MaxGraphValue* state = add_input(body, "s", MAX_DTYPE_FLOAT32, 1, one);
  CHECK(maxGraphAddOutput(body, condition, NULL));
  CHECK(maxGraphAddOutput(body, add_node(body, "Add", "advance", state, step), "next"));
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetGraph(attributes, "body", body));
  maxGraphRelease(body);
  MaxGraphValue *inputs[] = {NULL, NULL, start}, *last = NULL;
  CHECK(maxGraphAddNode(graph, NULL, "Loop", "forever", inputs, 3, attributes, &last, 1));
  maxAttributesRelease(attributes);
  CHECK(maxGraphAddOutput(graph, last, "last"));
  return compile(session, graph);
}

/* A Loop of so many trips as the first input says: state = state + step; `stacks` = all states are an output too. */
static inline MaxModel* new_loop(MaxSession* session, int stacks) {
  const int64_t one[] = {1};
  MaxGraph *graph = new_graph("loop"), *body = NULL;
  MaxGraphValue* trips = add_input(graph, "trips", MAX_DTYPE_INT64, 0, NULL);
  MaxGraphValue* step = add_input(graph, "step", MAX_DTYPE_FLOAT32, 1, one);
  MaxGraphValue* start = add_input(graph, "start", MAX_DTYPE_FLOAT32, 1, one);
  CHECK(maxGraphCreateSubgraph(graph, "body", &body));
  (void)add_input(body, "i", MAX_DTYPE_INT64, 0, NULL);
  MaxGraphValue* condition = add_input(body, "c", MAX_DTYPE_BOOL, 0, NULL);
  MaxGraphValue* state = add_input(body, "s", MAX_DTYPE_FLOAT32, 1, one);
  MaxGraphValue* next = add_node(body, "Add", "advance", state, step);
  CHECK(maxGraphAddOutput(body, condition, NULL));
  CHECK(maxGraphAddOutput(body, next, "next"));
  if (stacks) CHECK(maxGraphAddOutput(body, next, "seen"));
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetGraph(attributes, "body", body));
  maxGraphRelease(body);
  MaxGraphValue *inputs[] = {trips, NULL, start}, *outputs[2] = {NULL, NULL};
  CHECK(maxGraphAddNode(graph, NULL, "Loop", "repeat", inputs, 3, attributes, outputs, stacks ? 2 : 1));
  maxAttributesRelease(attributes);
  CHECK(maxGraphAddOutput(graph, outputs[0], "last"));
  if (stacks) CHECK(maxGraphAddOutput(graph, outputs[1], "all"));
  return compile(session, graph);
}

static inline MaxBuffer* new_floats(int32_t rank, const int64_t* shape, float value) {
  MaxDevice* cpu = open_cpu();
  MaxBuffer* buffer = new_buffer(cpu, MAX_DTYPE_FLOAT32, rank, shape);
  int64_t count = info_of(buffer).elementCount;
  float* values = data_of(buffer);
  for (int64_t i = 0; i < count; ++i) values[i] = value;
  maxDeviceRelease(cpu);
  return buffer;
}

static inline MaxBuffer* new_square(int64_t size, float value) {
  return new_floats(2, (const int64_t[]){size, size}, value);
}

static inline MaxBuffer* execute(const MaxModel* model, MaxBuffer* input) {
  MaxBuffer* output = NULL;
  CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
  return output;
}

static inline float first_of(MaxBuffer* buffer) { return *(const float*)data_of(buffer); }

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void sleep_ms(int milliseconds) {
  const struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  nanosleep(&time, NULL);
}

#endif
