/* SPDX-License-Identifier: Apache-2.0 */
/* Files of weights, replacing weights, compiled models: arguments, ownership and threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

#define SIZE 96 /* rows and columns of the weight: large enough to be packed and given up */

static MaxSession* new_session(void) {
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  return session;
}

/* One row is a vector. */
static MaxBuffer* filled(float value, int64_t rows, int64_t columns) {
  MaxDevice* cpu = open_cpu();
  const int64_t shape[] = {rows, columns};
  MaxBuffer* buffer = new_buffer(cpu, MAX_DTYPE_FLOAT32, rows == 1 ? 1 : 2, rows == 1 ? shape + 1 : shape);
  float* values = data_of(buffer);
  for (int64_t i = 0; i < rows * columns; ++i) values[i] = value;
  maxDeviceRelease(cpu);
  return buffer;
}

/* y = x w + c */
static MaxModel* new_product(float w, float c) {
  MaxSession* session = new_session();
  MaxModel* model = NULL;
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL, *values[3] = {NULL};
  const int64_t input[] = {MAX_DIMENSION_DYNAMIC, SIZE}, weight[] = {SIZE, SIZE}, row[] = {SIZE};
  CHECK(maxGraphCreate("product", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, input, NULL, &x));
  CHECK(maxGraphAddWeight(graph, "w", MAX_DTYPE_FLOAT32, 2, weight, NULL, &values[0]));
  CHECK(maxGraphAddWeight(graph, "c", MAX_DTYPE_FLOAT32, 1, row, NULL, &values[1]));
  MaxGraphValue* factors[] = {x, values[0]};
  CHECK(maxGraphAddNode(graph, NULL, "MatMul", NULL, factors, 2, NULL, &values[2], 1));
  MaxGraphValue* terms[] = {values[2], values[1]};
  CHECK(maxGraphAddNode(graph, NULL, "Add", NULL, terms, 2, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  MaxBuffer* buffers[] = {filled(w, SIZE, SIZE), filled(c, 1, SIZE)};
  const char* names[] = {"w", "c"};
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  options.weightNames = names;
  options.weights = buffers;
  options.weightCount = 2;
  CHECK(maxModelCompile(session, graph, &options, &model));
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  maxGraphRelease(graph);
  maxSessionRelease(session);
  return model;
}

/* The value that all elements of y have for x of ones; -1 if they differ. */
static float run(const MaxModel* model, MaxBuffer* ones) {
  MaxBuffer* output = NULL;
  CHECK(maxModelExecute(model, &ones, 1, NULL, &output, 1));
  const float* values = data_of(output);
  float result = values[0];
  for (int64_t i = 0; i < 2 * SIZE; ++i)
    if (values[i] != result) result = -1;
  maxBufferRelease(output);
  return result;
}

static void replace(MaxModel* model, float w, float c) {
  const char* names[] = {"w", "c"};
  MaxBuffer* buffers[] = {filled(w, SIZE, SIZE), filled(c, 1, SIZE)};
  CHECK(maxModelReplaceWeights(model, names, buffers, 2));
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
}

static void weights_are_replaced(void** state) {
  (void)state;
  MaxModel* model = new_product(1, 2);
  MaxBuffer* ones = filled(1, 2, SIZE);
  assert_true(run(model, ones) == SIZE + 2);
  replace(model, 2, 3);
  assert_true(run(model, ones) == 2 * SIZE + 3);
  const char* name = "c";
  MaxBuffer* c = filled(5, 1, SIZE);
  CHECK(maxModelReplaceWeights(model, &name, &c, 1));
  maxBufferRelease(c);
  assert_true(run(model, ones) == 2 * SIZE + 5);
  CHECK(maxModelReplaceWeights(model, NULL, NULL, 0));
  assert_true(run(model, ones) == 2 * SIZE + 5);
  maxBufferRelease(ones);
  maxModelRelease(model);
}

static void wrong_replacements_change_nothing(void** state) {
  (void)state;
  MaxModel* model = new_product(1, 2);
  MaxBuffer* ones = filled(1, 2, SIZE);
  const char *names[] = {"c", "w"}, *unknown[] = {"c", "v"}, *missing[] = {"c", NULL};
  MaxBuffer* buffers[] = {filled(9, 1, SIZE), filled(9, 1, SIZE)};
  CHECK_FAILS(maxModelReplaceWeights(NULL, names, buffers, 2), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelReplaceWeights(model, NULL, buffers, 2), MAX_STATUS_INVALID_ARGUMENT, "names");
  CHECK_FAILS(maxModelReplaceWeights(model, names, NULL, 2), MAX_STATUS_INVALID_ARGUMENT, "weights");
  CHECK_FAILS(maxModelReplaceWeights(model, names, buffers, -1), MAX_STATUS_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(maxModelReplaceWeights(model, missing, buffers, 2), MAX_STATUS_INVALID_ARGUMENT, "Name of weight 1");
  CHECK_FAILS(maxModelReplaceWeights(model, names, buffers, 2), MAX_STATUS_INVALID_ARGUMENT, "'w'");
  CHECK_FAILS(maxModelReplaceWeights(model, unknown, buffers, 2), MAX_STATUS_NOT_FOUND,
              "has no weight 'v'; known names: 'c', 'w'");
  CHECK_FAILS(maxModelReplaceWeights(model, (const char* const[]){"W"}, buffers, 1), MAX_STATUS_NOT_FOUND,
              "has no weight 'W'; did you mean 'w'?");
  assert_true(run(model, ones) == SIZE + 2);
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  maxBufferRelease(ones);
  maxModelRelease(model);
}

struct Runner {
  const MaxModel* model;
  atomic_int stop, wrong;
};

static void* run_until_stopped(void* argument) {
  struct Runner* runner = argument;
  MaxBuffer* ones = filled(1, 2, SIZE);
  while (!atomic_load(&runner->stop)) {
    const float value = run(runner->model, ones);
    if (value < 0 || (int)value % (SIZE + 1) != 0) atomic_fetch_add(&runner->wrong, 1);
  }
  maxBufferRelease(ones);
  return NULL;
}

/* With w = c = k every element is k (SIZE + 1). */
static void calls_run_with_old_or_new_weights(void** state) {
  (void)state;
  enum { THREADS = 3, ROUNDS = 60 };
  MaxModel* model = new_product(1, 1);
  struct Runner runner = {.model = model};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_until_stopped, &runner), 0);
  for (int k = 0; k < ROUNDS; ++k) replace(model, (float)k, (float)k);
  atomic_store(&runner.stop, 1);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(runner.wrong, 0);
  maxModelRelease(model);
}

/* A call that waits in a stream has begun: it runs with the weights that it found. */
static void queued_calls_keep_their_weights(void** state) {
  (void)state;
  MaxModel* model = new_product(1, 2);
  MaxBuffer *ones = filled(1, 2, SIZE), *output = NULL;
  MaxDevice* cpu = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &stream));
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  CHECK(maxModelExecute(model, &ones, 1, &options, &output, 1));
  replace(model, 2, 3);
  CHECK(maxStreamSynchronize(stream, 0));
  assert_true(((const float*)data_of(output))[0] == SIZE + 2);
  maxBufferRelease(output);
  assert_true(run(model, ones) == 2 * SIZE + 3);
  maxStreamRelease(stream);
  maxDeviceRelease(cpu);
  maxBufferRelease(ones);
  maxModelRelease(model);
}

static void saved_models_load_again(void** state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/max-test-weights-%d.max", (int)getpid());
  MaxModel *model = new_product(1, 2), *loaded = NULL;
  MaxModelInfo* info = NULL;
  MaxBuffer* ones = filled(1, 2, SIZE);
  replace(model, 3, 4);
  CHECK(maxModelSave(model, path));
  maxModelRelease(model);
  MaxSession* session = new_session();
  CHECK(maxModelLoad(session, path, NULL, &loaded));
  assert_true(run(loaded, ones) == 3 * SIZE + 4);
  replace(loaded, 1, 1);
  assert_true(run(loaded, ones) == SIZE + 1);
  assert_string_equal(input_of(loaded, 0).name, "x");
  CHECK(maxModelInfoLoad(path, &info));
  maxModelInfoRelease(info);
  CHECK_FAILS(maxModelSave(NULL, path), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelSave(loaded, NULL), MAX_STATUS_INVALID_ARGUMENT, "path");
  CHECK_FAILS(maxModelSave(loaded, "/nonexistent/folder/model"), MAX_STATUS_NOT_FOUND, "/nonexistent/folder/model");
  CHECK(maxModelSave(loaded, path)); /* over the file it came from */
  maxModelRelease(loaded);
  CHECK(maxModelLoad(session, path, NULL, &loaded));
  assert_true(run(loaded, ones) == SIZE + 1);
  unlink(path);
  maxBufferRelease(ones);
  maxModelRelease(loaded);
  maxSessionRelease(session);
}

static void count_release(void* released) { ++*(int*)released; }

/* Tensors of others are used where they lie, and held for as long as the model may read them. */
static void weights_of_others_are_held(void** state) {
  (void)state;
  static float rows[SIZE][SIZE], row[SIZE];
  const int64_t shape[] = {SIZE, SIZE};
  int released = 0;
  MaxModel* model = new_product(1, 2);
  MaxBuffer *ones = filled(1, 2, SIZE), *buffers[2] = {NULL};
  MaxDevice* cpu = open_cpu();
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.release = count_release;
  options.userData = &released;
  for (int i = 0; i < SIZE; ++i) rows[i][i] = row[i] = 3;
  CHECK(maxBufferWrap(cpu, rows, MAX_DTYPE_FLOAT32, 2, shape, &options, &buffers[0]));
  CHECK(maxBufferWrap(cpu, row, MAX_DTYPE_FLOAT32, 1, shape, &options, &buffers[1]));
  const char* names[] = {"w", "c"};
  CHECK(maxModelReplaceWeights(model, names, buffers, 2));
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  assert_int_equal(released, 0);
  assert_true(run(model, ones) == 6);
  replace(model, 1, 2);
  assert_true(run(model, ones) == SIZE + 2);
  assert_int_equal(released, 2);
  maxDeviceRelease(cpu);
  maxBufferRelease(ones);
  maxModelRelease(model);
}

static void files_of_weights(void** state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/max-test-weights-%d.max", (int)getpid());
  MaxBuffer *buffer = filled(7, 1, 3), *found = NULL;
  MaxWeights* weights = NULL;
  const char* name = NULL;
  int32_t number = -1;
  CHECK(maxBufferSave(buffer, path, "a.b"));
  CHECK(maxWeightsLoad(path, &weights));
  CHECK(maxWeightsGetCount(weights, &number));
  assert_int_equal(number, 1);
  CHECK(maxWeightsGetName(weights, 0, &name));
  assert_string_equal(name, "a.b");
  CHECK(maxWeightsFind(weights, "a.b", &number));
  assert_int_equal(number, 0);
  CHECK(maxWeightsGetBuffer(weights, 0, &found));
  const void* data = NULL;
  CHECK(maxBufferGetData(found, &data));
  assert_true(((const float*)data)[2] == 7);
  maxWeightsRetain(weights);
  maxWeightsRelease(weights);
  CHECK_FAILS(maxWeightsFind(weights, "b", &number), MAX_STATUS_NOT_FOUND, "has no tensor 'b'; known names: 'a");
  CHECK_FAILS(maxWeightsFind(weights, "a.c", &number), MAX_STATUS_NOT_FOUND, "did you mean 'a.b'?");
  CHECK_FAILS(maxWeightsGetName(weights, 1, &name), MAX_STATUS_OUT_OF_RANGE, "1");
  CHECK_FAILS(maxWeightsGetBuffer(weights, -1, &found), MAX_STATUS_OUT_OF_RANGE, "-1");
  CHECK_FAILS(maxWeightsGetCount(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "weights");
  maxWeightsRelease(weights);
  CHECK_FAILS(maxWeightsLoad(NULL, &weights), MAX_STATUS_INVALID_ARGUMENT, "path");
  assert_null(weights);
  maxBufferRelease(buffer);
  unlink(path);
}

/* y = x w, with w from where `add` takes it. */
static MaxModel* product_of(MaxSession* session, MaxStatus (*add)(MaxGraph*, const void*, MaxGraphValue**),
                            const void* source) {
  MaxGraph* graph = NULL;
  MaxModel* model = NULL;
  MaxGraphValue *inputs[2] = {NULL}, *y = NULL;
  const int64_t shape[] = {MAX_DIMENSION_DYNAMIC, SIZE};
  CHECK(maxGraphCreate("product", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, shape, NULL, &inputs[0]));
  CHECK(add(graph, source, &inputs[1]));
  CHECK(maxGraphAddNode(graph, NULL, "MatMul", NULL, inputs, 2, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxGraphRelease(graph);
  return model;
}

static MaxStatus add_from_buffer(MaxGraph* graph, const void* buffer, MaxGraphValue** value) {
  return maxGraphAddWeightFromBuffer(graph, "w", buffer, value);
}

static MaxStatus add_from_weights(MaxGraph* graph, const void* weights, MaxGraphValue** value) {
  return maxGraphAddWeightFromWeights(graph, "w", weights, value);
}

static void expect_product(MaxModel* model, float expected) {
  MaxBuffer* ones = filled(1, 2, SIZE);
  assert_true(run(model, ones) == expected);
  maxBufferRelease(ones);
}

static char path[64];

static void save_weight(const char* name, MaxBuffer* buffer) {
  snprintf(path, sizeof path, "/tmp/max-test-weights-%d.max", (int)getpid());
  CHECK(maxBufferSave(buffer, path, name));
}

static void graphs_take_weights_with_their_contents(void** state) {
  (void)state;
  MaxSession* session = new_session();
  MaxBuffer *two = filled(2, SIZE, SIZE), *three = filled(3, SIZE, SIZE);
  MaxWeights* weights = NULL;
  save_weight("w", two);
  CHECK(maxWeightsLoad(path, &weights));
  MaxModel* models[] = {product_of(session, add_from_buffer, two), product_of(session, add_from_weights, weights)};
  maxWeightsRelease(weights);
  maxBufferRelease(two);
  unlink(path);
  for (int i = 0; i < 2; ++i) {
    const char* name = "w";
    MaxModelInfo* info = NULL;
    MaxTensorInfo weight = MAX_TENSOR_INFO_INIT;
    expect_product(models[i], 2 * SIZE);
    CHECK(maxModelGetInfo(models[i], &info));
    CHECK(maxModelInfoGetWeight(info, 0, &weight));
    assert_string_equal(weight.name, "w");
    CHECK(maxModelReplaceWeights(models[i], &name, &three, 1));
    expect_product(models[i], 3 * SIZE);
    maxModelRelease(models[i]);
  }
  maxBufferRelease(three);
  maxSessionRelease(session);
}

static void wrong_contents_are_refused(void** state) {
  (void)state;
  MaxGraph* graph = NULL;
  MaxGraphValue* value = NULL;
  MaxWeights* weights = NULL;
  MaxBuffer* buffer = filled(2, 1, 1);
  save_weight("w", buffer);
  CHECK(maxWeightsLoad(path, &weights));
  unlink(path);
  CHECK(maxGraphCreate("wrong", &graph));
  CHECK_FAILS(maxGraphAddWeightFromWeights(graph, "v", weights, &value), MAX_STATUS_NOT_FOUND, "no tensor 'v'");
  CHECK_FAILS(maxGraphAddWeightFromWeights(graph, NULL, weights, &value), MAX_STATUS_INVALID_ARGUMENT, "name");
  CHECK_FAILS(maxGraphAddWeightFromWeights(graph, "w", NULL, &value), MAX_STATUS_INVALID_ARGUMENT, "weights");
  CHECK_FAILS(maxGraphAddWeightFromWeights(NULL, "w", weights, &value), MAX_STATUS_INVALID_ARGUMENT, "graph");
  CHECK_FAILS(maxGraphAddWeightFromBuffer(graph, "", buffer, &value), MAX_STATUS_INVALID_ARGUMENT, "name");
  CHECK_FAILS(maxGraphAddWeightFromBuffer(graph, "w", NULL, &value), MAX_STATUS_INVALID_ARGUMENT, "contents");
  CHECK_FAILS(maxGraphAddWeightFromBuffer(graph, "w", buffer, NULL), MAX_STATUS_INVALID_ARGUMENT, "outValue");
  CHECK(maxGraphAddWeightFromBuffer(graph, "w", buffer, &value));
  CHECK_FAILS(maxGraphAddWeightFromBuffer(graph, "w", buffer, &value), MAX_STATUS_INVALID_ARGUMENT, "used twice");
  maxWeightsRelease(weights);
  maxBufferRelease(buffer);
  maxGraphRelease(graph);
}

/* More than the 16 MB up to which sources are kept in any case. */
#define LARGE 50000

static void large_constants_can_be_saved_and_replaced(void** state) {
  (void)state;
  MaxSession* session = new_session();
  MaxBuffer *large = filled(2, LARGE, SIZE), *x = filled(1, 1, LARGE), *output = NULL;
  MaxGraph* graph = NULL;
  MaxModel *model = NULL, *loaded = NULL;
  MaxGraphValue *inputs[3] = {NULL}, *product = NULL, *y = NULL;
  const int64_t shape[] = {LARGE};
  CHECK(maxGraphCreate("large", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, shape, NULL, &inputs[0]));
  CHECK(maxGraphAddConstant(graph, NULL, large, &inputs[1]));
  CHECK(maxGraphAddNode(graph, NULL, "MatMul", NULL, inputs, 2, NULL, &product, 1));
  MaxBuffer* bias = filled(1, 1, SIZE);
  CHECK(maxGraphAddWeightFromBuffer(graph, "b", bias, &inputs[2]));
  CHECK(maxGraphAddNode(graph, NULL, "Add", NULL, (MaxGraphValue*[]){product, inputs[2]}, 2, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxGraphRelease(graph);
  maxBufferRelease(large);
  maxBufferRelease(bias);
  const char* name = "b";
  bias = filled(5, 1, SIZE);
  CHECK(maxModelReplaceWeights(model, &name, &bias, 1));
  maxBufferRelease(bias);
  MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
  CHECK(maxModelGetMemory(model, &memory));
  assert_true(memory.ownedWeights >= sizeof(float) * LARGE * SIZE); /* it is kept, and counted */
  snprintf(path, sizeof path, "/tmp/max-test-weights-%d.max", (int)getpid());
  CHECK(maxModelSave(model, path));
  CHECK(maxModelLoad(session, path, NULL, &loaded));
  unlink(path);
  CHECK(maxModelExecute(loaded, &x, 1, NULL, &output, 1));
  assert_true(((const float*)data_of(output))[SIZE - 1] == 2 * LARGE + 5);
  maxBufferRelease(output);
  maxBufferRelease(x);
  maxModelRelease(model);
  maxModelRelease(loaded);
  maxSessionRelease(session);
}

#define LINEAR MAX_TEST_DATA "/models/linear.onnx"

static float first_output(const MaxModel* model) {
  MaxBuffer *x = filled(1, 2, 2), *output = NULL;
  CHECK(maxModelExecute(model, &x, 1, NULL, &output, 1));
  const float first = *(const float*)data_of(output);
  maxBufferRelease(output);
  maxBufferRelease(x);
  return first;
}

static void load_options_take_a_file_and_ignore_names(void** state) {
  (void)state;
  MaxSession* session = new_session();
  MaxModel* model = NULL;
  MaxBuffer *weight = filled(5, 2, 3), *unknown = filled(1, 1, 1);
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  save_weight("weight", weight);
  options.weightsPath = path;
  CHECK(maxModelLoad(session, LINEAR, &options, &model));
  const float from_file = first_output(model);
  maxModelRelease(model);

  /* Names in the options come before the file's; unknown ones are refused unless they are to be ignored. */
  const char* names[] = {"weight", "nothing"};
  MaxBuffer* buffers[] = {filled(6, 2, 3), unknown};
  options.weightNames = names;
  options.weights = buffers;
  options.weightCount = 2;
  CHECK_FAILS(maxModelLoad(session, LINEAR, &options, &model), MAX_STATUS_NOT_FOUND, "'nothing'");
  options.ignoreUnknownWeights = 1;
  CHECK(maxModelLoad(session, LINEAR, &options, &model));
  assert_true(first_output(model) == from_file * 6 / 5);
  CHECK(maxModelReplaceWeights(model, names, &weight, 1)); /* what was ignored stays ignored */
  assert_true(first_output(model) == from_file);
  CHECK_FAILS(maxModelReplaceWeights(model, names + 1, &unknown, 1), MAX_STATUS_NOT_FOUND, "'nothing'");
  maxModelRelease(model);
  unlink(path);
  CHECK_FAILS(maxModelLoad(session, LINEAR, &options, &model), MAX_STATUS_NOT_FOUND, path);
  maxBufferRelease(buffers[0]);
  maxBufferRelease(unknown);
  maxBufferRelease(weight);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(weights_are_replaced),
      TEST(wrong_replacements_change_nothing),
      TEST(calls_run_with_old_or_new_weights),
      TEST(queued_calls_keep_their_weights),
      TEST(saved_models_load_again),
      TEST(files_of_weights),
      TEST(weights_of_others_are_held),
      TEST(graphs_take_weights_with_their_contents),
      TEST(wrong_contents_are_refused),
      TEST(large_constants_can_be_saved_and_replaced),
      TEST(load_options_take_a_file_and_ignore_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
