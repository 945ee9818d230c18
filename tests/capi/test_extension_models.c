/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of extensions in all that models do: loops, branches, captures, weights, streams, profiles, children. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "extension_fixture.h"

static MaxGraphValue* add_to(MaxGraph* where, const char* op, MaxGraphValue* a, MaxGraphValue* b) {
  MaxGraphValue *inputs[] = {a, b}, *output = NULL;
  CHECK(maxGraphAddNode(where, "test", op, "it", inputs, b ? 2 : 1, NULL, &output, 1));
  return output;
}

/* A Loop of so many trips as the first input says: state = Sum(state, step). */
static void test_bodies_of_loops(void** state) {
  (void)state;
  const int64_t one[] = {1};
  MaxGraph* body = NULL;
  MaxGraphValue* trips = add_input(graph, "trips", MAX_DTYPE_INT64, 0, NULL);
  MaxGraphValue* step = add_input(graph, "step", MAX_DTYPE_FLOAT32, 1, one);
  CHECK(maxGraphCreateSubgraph(graph, "body", &body));
  (void)add_input(body, "i", MAX_DTYPE_INT64, 0, NULL);
  MaxGraphValue* condition = add_input(body, "c", MAX_DTYPE_BOOL, 0, NULL);
  MaxGraphValue* value = add_input(body, "s", MAX_DTYPE_FLOAT32, 1, one);
  CHECK(maxGraphAddOutput(body, condition, NULL));
  CHECK(maxGraphAddOutput(body, add_to(body, "Copy", add_to(body, "Sum", value, step), NULL), "next"));
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetGraph(attributes, "body", body));
  maxGraphRelease(body);
  MaxGraphValue *inputs[] = {trips, NULL, step}, *last = NULL;
  CHECK(maxGraphAddNode(graph, NULL, "Loop", "repeat", inputs, 3, attributes, &last, 1));
  maxAttributesRelease(attributes);
  MaxModel* model = model_of(last);
  MaxDevice* cpu = open_cpu();
  MaxBuffer *buffers[] = {new_buffer(cpu, MAX_DTYPE_INT64, 0, NULL), new_vector(1, 2)}, *output = NULL;
  *(int64_t*)data_of(buffers[0]) = 50;
  CHECK(maxModelExecute(model, buffers, 2, NULL, &output, 1));
  assert_true(first_of(output) == 102);
  maxBufferRelease(output);
  maxBufferRelease(buffers[0]);
  maxBufferRelease(buffers[1]);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

static void test_captured_calls(void** state) {
  (void)state;
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1});
  MaxModel* model = model_of(add_to(graph, "Sum", x, x));
  MaxBuffer *input = new_vector(100, 1), *output = NULL;
  CHECK(maxModelCapture(model, 1, &input, 1, NULL, &output, 1));
  ((float*)data_of(input))[0] = 8;
  CHECK(maxModelReplay(model, 1, &input, 1, NULL));
  assert_true(first_of(output) == 16);
  CHECK(maxModelVerifyReplay(model, 1, &input, 1, NULL));
  CHECK(maxModelForgetCaptured(model, 1));
  maxBufferRelease(input);
  maxBufferRelease(output);
  maxModelRelease(model);
}

/* What was prepared of a weight is prepared again of the new one. */
static void test_weights_are_replaced(void** state) {
  (void)state;
  MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), *w = NULL;
  MaxModel* model = NULL;
  CHECK(maxGraphAddWeight(graph, "w", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){1}, NULL, &w));
  CHECK(maxGraphAddOutput(graph, add_to(graph, "Sum", x, w), "y"));
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  const char* names[] = {"w"};
  MaxBuffer *weights[] = {new_vector(1, 5)}, *other = new_vector(1, 50), *input = new_vector(3, 0);
  options.weightNames = names;
  options.weights = weights;
  options.weightCount = 1;
  CHECK(maxModelCompile(session, graph, &options, &model));
  /* As an input and as a prepared constant. */
  MaxBuffer* output = execute(model, input);
  assert_true(first_of(output) == 10);
  maxBufferRelease(output);
  CHECK(maxModelReplaceWeights(model, names, &other, 1));
  output = execute(model, input);
  assert_true(first_of(output) == 100);
  maxBufferRelease(output);
  maxBufferRelease(other);
  maxBufferRelease(weights[0]);
  maxBufferRelease(input);
  maxModelRelease(model);
}

static void test_created_streams_keep_errors(void** state) {
  (void)state;
  MaxAttributes* attributes = NULL;
  MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), *y = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetString(attributes, "at", "execute"));
  CHECK(maxGraphAddNode(graph, "test", "Failing", "it", &x, 1, attributes, &y, 1));
  maxAttributesRelease(attributes);
  MaxModel* model = model_of(y);
  MaxDevice* cpu = open_cpu();
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  MaxBuffer *input = new_vector(3, 1), *output = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &options.stream));
  CHECK(maxModelExecute(model, &input, 1, &options, &output, 1));
  CHECK_FAILS(maxStreamSynchronize(options.stream, 0), MAX_STATUS_OUT_OF_RANGE, "execute: the moon is full");
  maxStreamRelease(options.stream);
  maxBufferRelease(input);
  maxBufferRelease(output);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

/* Writes one element too many, which guards notice. */
static MaxStatus overrun(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  const MaxStatus status = copy(user_data, node, state, call);
  ((float*)call->outputs[0])[call->outputElementCounts[0]] = 1;
  return status;
}

/* The same for an output that it makes itself, and for its scratch memory. */
static MaxStatus overrun_made(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  void* memory = NULL;
  (void)user_data, (void)node, (void)state;
  const int64_t shape[] = {3};
  const MaxStatus status = maxOperatorCallAllocateOutput(call, 0, 1, shape, &memory);
  if (status == MAX_STATUS_OK) memset(memory, 0, 3 * sizeof(float) + 1);
  return status;
}

static MaxStatus infer_made(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  static const int64_t any[] = {MAX_DIMENSION_DYNAMIC};
  (void)user_data, (void)node;
  return maxShapeContextSetOutputShape(context, 0, 1, any);
}

static MaxStatus infer_with_scratch(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  const MaxStatus status = maxShapeContextSetScratchSize(context, 10);
  return status ? status : infer_like(user_data, node, context);
}

static MaxStatus overrun_scratch(void* user_data, const MaxOperatorNode* node, void* state,
                                 const MaxOperatorCall* call) {
  memset(call->scratch, 0, 11);
  return copy(user_data, node, state, call);
}

static void test_guards_find_writes_behind_outputs(void** state) {
  (void)state;
  static const MaxOperator rows[] = {
      ROW("Overrun", FLOATS, 1, 1, 1, infer_like, overrun, .attributes = NULL),
      ROW("OverrunMade", FLOATS, 1, 1, 1, infer_made, overrun_made, .traits = MAX_OPERATOR_TRAITS_DATA_DEPENDENT),
      ROW("OverrunScratch", FLOATS, 1, 1, 1, infer_with_scratch, overrun_scratch, .attributes = NULL)};
  static const char* const messages[] = {
      "node 'it' (test.Overrun), extension 'careless': wrote past the end of output 0 ('Overrun')",
      "node 'it' (test.OverrunMade), extension 'careless': wrote past the end of output 0 ('OverrunMade')",
      "node 'it' (test.OverrunScratch), extension 'careless': wrote past its scratch memory"};
  const MaxOperator* operators[] = {&rows[0], &rows[1], &rows[2]};
  CHECK(add_rows("careless", operators, 3));
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_SAFE));
  for (size_t i = 0; i < COUNT_OF(rows); ++i)
    for (int is_last = 0; is_last < 2; ++is_last) {
      maxGraphRelease(graph);
      graph = new_graph("test");
      MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1});
      MaxGraphValue* careless = add_to(graph, rows[i].name, x, NULL);
      MaxModel* model = model_of(is_last ? careless : add_to(graph, "Copy", careless, NULL));
      MaxBuffer *input = new_vector(64, 1), *output = NULL;
      CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_OUT_OF_RANGE, messages[i]);
      assert_null(output);
      maxBufferRelease(input);
      maxModelRelease(model);
    }
}

/* Also if the program provides the output's memory, which does not change. */
static void test_guards_are_where_outputs_are_given(void** state) {
  (void)state;
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_ALL));
  MaxModel* model =
      model_of(add_to(graph, "Overrun", add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), NULL));
  MaxBuffer *input = new_vector(5, 1), *given = new_vector(5, 7), *output = NULL;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = &given;
  CHECK_FAILS(maxModelExecute(model, &input, 1, &options, &output, 1), MAX_STATUS_OUT_OF_RANGE, "test.Overrun");
  assert_true(((const float*)data_of(given))[4] == 11);
  maxBufferRelease(input);
  maxBufferRelease(given);
  maxModelRelease(model);
}

static void test_memory_limits_hold(void** state) {
  (void)state;
  MaxSession* small = new_session(1 << 20);
  MaxModel* model = NULL;
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1});
  CHECK(maxGraphAddOutput(graph, add_to(graph, "Late", add_to(graph, "Sum", x, NULL), NULL), "y"));
  CHECK(maxModelCompile(small, graph, NULL, &model));
  MaxBuffer *input = new_vector(1 << 19, 1), *output = NULL;
  CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_RESOURCE_EXHAUSTED, "test.Sum");
  maxBufferRelease(input);
  input = new_vector(1 << 10, 1);
  output = execute(model, input);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(small);
}

static void test_profiles_name_their_steps(void** state) {
  (void)state;
  CHECK(maxSessionSetProfiling(session, MAX_PROFILING_MODE_ON));
  MaxModel* model =
      model_of(add_to(graph, "Copy", add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), NULL));
  MaxBuffer *input = new_vector(3, 1), *output = execute(model, input);
  char path[] = "/tmp/max_profile_XXXXXX", text[8192] = "";
  close(mkstemp(path));
  CHECK(maxSessionWriteProfile(session, path));
  const int file = open(path, O_RDONLY); /* it is another file by now */
  assert_true(file >= 0);
  assert_true(read(file, text, sizeof text - 1) > 0);
  close(file);
  remove(path);
  assert_non_null(strstr(text, "test.Copy"));
  assert_non_null(strstr(text, "\"extension\""));
  maxBufferRelease(input);
  maxBufferRelease(output);
  maxModelRelease(model);
}

/* In the child: a model of the parent runs, and another extension comes. */
static int use_in_child(const MaxModel* model) {
  const MaxOperator row = ROW("Child", FLOATS, 1, 1, 1, infer_like, copy, .attributes = NULL);
  const MaxOperator* rows_of_table[] = {&row};
  MaxExtensionTable table = MAX_EXTENSION_TABLE_INIT;
  table.abiVersion = MAX_EXTENSION_ABI_VERSION;
  table.operatorCount = 1;
  table.operators = rows_of_table;
  alarm(20); /* a deadlock ends the child */
  MaxBuffer *input = new_vector(7, 1), *output = NULL;
  if (maxModelExecute(model, &input, 1, NULL, &output, 1) != MAX_STATUS_OK) return 1;
  if (maxExtensionAdd("child", &table) != MAX_STATUS_OK) return 2;
  MaxGraphValue *x = add_input(graph, "z", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), *y = NULL;
  return maxGraphAddNode(graph, "test", "Child", "it", &x, 1, NULL, &y, 1) == MAX_STATUS_OK ? 0 : 3;
}

static void test_children_use_and_add_operators(void** state) {
  (void)state;
  MaxModel* model =
      model_of(add_to(graph, "Copy", add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), NULL));
  int status = -1;
  const pid_t child = fork();
  if (child == 0) _exit(use_in_child(model));
  assert_true(child > 0 && waitpid(child, &status, 0) == child);
  assert_int_equal(status, 0);
  maxModelRelease(model);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_bodies_of_loops),
      CASE(test_captured_calls),
      CASE(test_weights_are_replaced),
      CASE(test_created_streams_keep_errors),
      CASE(test_guards_find_writes_behind_outputs),
      CASE(test_guards_are_where_outputs_are_given),
      CASE(test_memory_limits_hold),
      CASE(test_profiles_name_their_steps),
      CASE(test_children_use_and_add_operators),
  };
  return cmocka_run_group_tests_name("extension models", tests, NULL, NULL);
}
