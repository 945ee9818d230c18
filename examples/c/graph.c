/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph built in code: a network of two layers that computes the exclusive or.
 *
 *     example_graph
 */
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

static MaxBuffer* makeBuffer(int64_t rows, int64_t columns, const float* data) {
  const int64_t shape[] = {rows, columns};
  MaxBuffer* buffer;
  check(maxBufferCreate(NULL, MAX_DTYPE_FLOAT32, 2, shape, NULL, &buffer));
  check(maxBufferCopyFromHost(buffer, 0, data, (size_t)(rows * columns) * sizeof *data, NULL));
  return buffer;
}

static MaxGraphValue* apply(MaxGraph* graph, const char* op, MaxGraphValue* a, MaxGraphValue* b) {
  MaxGraphValue* inputs[] = {a, b};
  MaxGraphValue* output;
  check(maxGraphAddNode(graph, NULL, op, NULL, inputs, b ? 2 : 1, NULL, &output, 1));
  return output;
}

/* x * matrix + bias, with weights by name whose contents come when the graph is compiled. */
static MaxGraphValue* layer(MaxGraph* graph, MaxGraphValue* x, const char* matrix, const char* bias, int64_t inputs,
                            int64_t outputs) {
  const int64_t shape[] = {inputs, outputs}, row[] = {1, outputs};
  MaxGraphValue *a, *b;
  check(maxGraphAddWeight(graph, matrix, MAX_DTYPE_FLOAT32, 2, shape, NULL, &a));
  check(maxGraphAddWeight(graph, bias, MAX_DTYPE_FLOAT32, 2, row, NULL, &b));
  return apply(graph, "Add", apply(graph, "MatMul", x, a), b);
}

static MaxGraph* buildGraph(void) {
  const int64_t shape[] = {MAX_DIMENSION_DYNAMIC, 2};
  const char* const names[] = {"batch", NULL};
  MaxGraphInputOptions options = MAX_GRAPH_INPUT_OPTIONS_INIT;
  MaxGraph* graph;
  MaxGraphValue *x, *hidden;
  options.dimensionNames = names;
  check(maxGraphCreate("exclusive_or", &graph));
  check(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, shape, &options, &x));
  hidden = apply(graph, "Relu", layer(graph, x, "hidden.matrix", "hidden.bias", 2, 2), NULL);
  check(maxGraphAddOutput(graph, layer(graph, hidden, "output.matrix", "output.bias", 2, 1), "y"));
  return graph;
}

static MaxModel* compile(MaxGraph* graph) {
  static const float hiddenMatrix[] = {1, 1, 1, 1}, hiddenBias[] = {0, -1}, outputMatrix[] = {1, -2},
                     outputBias[] = {0};
  const char* const names[] = {"hidden.matrix", "hidden.bias", "output.matrix", "output.bias"};
  MaxBuffer* const weights[] = {makeBuffer(2, 2, hiddenMatrix), makeBuffer(1, 2, hiddenBias),
                                makeBuffer(2, 1, outputMatrix), makeBuffer(1, 1, outputBias)};
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  MaxSession* session;
  MaxModel* model;
  int i;
  options.weightNames = names;
  options.weights = weights;
  options.weightCount = 4;
  check(maxSessionCreate(NULL, &session));
  check(maxModelCompile(session, graph, &options, &model));
  for (i = 0; i < 4; ++i) maxBufferRelease(weights[i]); /* the model holds them */
  maxSessionRelease(session);
  return model;
}

int main(void) {
  static const float pairs[] = {0, 0, 0, 1, 1, 0, 1, 1};
  MaxGraph* graph = buildGraph();
  MaxModel* model = compile(graph);
  MaxBuffer *input = makeBuffer(4, 2, pairs), *output;
  const void* results;
  int i;
  check(maxModelExecute(model, &input, 1, NULL, &output, 1));
  check(maxBufferGetData(output, &results));
  for (i = 0; i < 4; ++i) printf("%.0f xor %.0f = %.0f\n", pairs[2 * i], pairs[2 * i + 1], ((const float*)results)[i]);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxGraphRelease(graph);
  return 0;
}
