/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call of a model costs apart from the model's work: Identity on one number, called in each way.
 *
 *     call_bench     prints the fastest of many rounds, in nanoseconds per call
 */
#define _POSIX_C_SOURCE 200809L
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 10000, ROUNDS = 100 };

static MaxModel* model;
static MaxBuffer *input, *given;

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

static void execute(void) {
  MaxBuffer* output = NULL;
  check(maxModelExecute(model, &input, 1, NULL, &output, 1));
  maxBufferRelease(output);
}

static void executeIntoGiven(void) {
  MaxBuffer* output = NULL;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = &given;
  check(maxModelExecute(model, &input, 1, &options, &output, 1));
  maxBufferRelease(output);
}

static void executeHost(void) {
  static const float number = 1;
  static const int64_t shape[] = {1};
  const void* data[] = {&number};
  const MaxDType dtypes[] = {MAX_DTYPE_FLOAT32};
  const int32_t ranks[] = {1};
  const int64_t* shapes[] = {shape};
  MaxBuffer* output = NULL;
  check(maxModelExecuteHost(model, data, dtypes, ranks, shapes, 1, NULL, &output, 1));
  maxBufferRelease(output);
}

static void executeByName(void) {
  const char *inputNames[] = {"x"}, *outputNames[] = {"y"};
  MaxBuffer* output = NULL;
  check(maxModelExecuteByName(model, inputNames, &input, 1, NULL, outputNames, &output, 1));
  maxBufferRelease(output);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const char* name, void (*call)(void)) {
  double best = 1;
  for (int round = 0; round < ROUNDS; ++round) {
    const double begin = seconds();
    for (int i = 0; i < CALLS; ++i) call();
    const double taken = seconds() - begin;
    if (taken < best) best = taken;
  }
  printf("%-40s %6.0f ns\n", name, 1e9 * best / CALLS);
}

int main(void) {
  const int64_t shape[] = {1};
  MaxSession* session = NULL;
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL;
  check(maxSessionCreate(NULL, &session));
  check(maxGraphCreate(NULL, &graph));
  check(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, shape, NULL, &x));
  check(maxGraphAddNode(graph, NULL, "Identity", NULL, &x, 1, NULL, &y, 1));
  check(maxGraphAddOutput(graph, y, "y"));
  check(maxModelCompile(session, graph, NULL, &model));
  check(maxBufferCreate(NULL, MAX_DTYPE_FLOAT32, 1, shape, NULL, &input));
  check(maxBufferCreate(NULL, MAX_DTYPE_FLOAT32, 1, shape, NULL, &given));

  measure("maxModelExecute", execute);
  measure("maxModelExecute into a given output", executeIntoGiven);
  measure("maxModelExecuteHost", executeHost);
  measure("maxModelExecuteByName", executeByName);

  maxBufferRelease(given);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxGraphRelease(graph);
  maxSessionRelease(session);
  return 0;
}
