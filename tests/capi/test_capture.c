/* SPDX-License-Identifier: Apache-2.0 */
/* Captured calls: capture, replay, verification, release. */
#define _GNU_SOURCE
#include <pthread.h>

#include "models.h"

struct fixture {
  MaxSession* session;
  MaxModel* model;
  MaxBuffer* input;
};

static struct fixture set_up(void) {
  struct fixture f;
  f.session = new_session(0);
  f.model = new_power(f.session, 3);
  f.input = new_square(2, 1);
  return f;
}

static void tear_down(struct fixture* f) {
  maxBufferRelease(f->input);
  maxModelRelease(f->model);
  maxSessionRelease(f->session);
}

static void fill(MaxBuffer* buffer, float value) { CHECK(maxBufferFill(buffer, &value, sizeof value, NULL)); }

static void replays_read_and_write_the_captured_buffers(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer *output = NULL, *again = NULL;
  const uint64_t key = UINT64_MAX;
  CHECK(maxModelCapture(f.model, key, &f.input, 1, NULL, &output, 1));
  assert_float_equal(first_of(output), 8, 0); /* ((2 * 1) * 2) * 2 */
  for (int i = 2; i < 5; ++i) {
    fill(f.input, (float)i);
    CHECK(maxModelReplay(f.model, key, &f.input, 1, NULL));
    assert_float_equal(first_of(output), (float)(8 * i * i * i * i), 0);
    CHECK(maxModelVerifyReplay(f.model, key, &f.input, 1, NULL));
  }
  fill(f.input, 1);
  CHECK(maxModelCapture(f.model, key, &f.input, 1, NULL, &again, 1));
  assert_ptr_equal(again, output);
  assert_float_equal(first_of(output), 8, 0);
  maxBufferRelease(again);

  /* Ordinary calls leave the captured outputs alone. */
  fill(f.input, 3);
  maxBufferRelease(execute(f.model, f.input));
  assert_float_equal(first_of(output), 8, 0);
  maxBufferRelease(output);
  tear_down(&f); /* with the capture */
}

static void keys_are_apart(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* other = new_square(3, 2);
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK(maxModelCapture(f.model, 1, &f.input, 1, NULL, &outputs[0], 1));
  CHECK(maxModelCapture(f.model, 2, &other, 1, NULL, &outputs[1], 1));
  fill(f.input, 2);
  CHECK(maxModelReplay(f.model, 2, &other, 1, NULL));
  assert_float_equal(first_of(outputs[0]), 8, 0);
  CHECK(maxModelReplay(f.model, 1, &f.input, 1, NULL));
  assert_float_equal(first_of(outputs[0]), 8 * 16, 0);

  maxBufferRelease(outputs[1]);
  CHECK_FAILS(maxModelCapture(f.model, 1, &other, 1, NULL, &outputs[1], 1), MAX_STATUS_ALREADY_EXISTS, "Graph 1");
  assert_null(outputs[1]);
  CHECK_FAILS(maxModelReplay(f.model, 1, &other, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "another buffer as input 0");
  CHECK_FAILS(maxModelVerifyReplay(f.model, 2, &f.input, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "Graph 2");
  CHECK(maxModelForgetCaptured(f.model, 1));
  CHECK_FAILS(maxModelForgetCaptured(f.model, 1), MAX_STATUS_NOT_FOUND, "key 1");
  CHECK_FAILS(maxModelReplay(f.model, 1, &f.input, 1, NULL), MAX_STATUS_NOT_FOUND, "key 1");
  CHECK_FAILS(maxModelVerifyReplay(f.model, 1, &f.input, 1, NULL), MAX_STATUS_NOT_FOUND, "key 1");
  maxBufferRelease(other);
  maxBufferRelease(outputs[0]);
  tear_down(&f);
}

static void verification_sees_other_steps(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxGraph* graph = new_graph("top");
  MaxGraphValue *values[2] = {NULL, NULL}, *outputs[2] = {NULL, NULL};
  MaxDevice* cpu = open_cpu();
  MaxBuffer* k = new_buffer(cpu, MAX_DTYPE_INT64, 1, (const int64_t[]){1});
  *(int64_t*)data_of(k) = 3;
  values[0] = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1});
  CHECK(maxGraphAddConstant(graph, "k", k, &values[1]));
  CHECK(maxGraphAddNode(graph, NULL, "TopK", "top", values, 2, NULL, outputs, 2));
  CHECK(maxGraphAddOutput(graph, outputs[0], "values"));
  MaxModel* model = compile(session, graph);
  MaxBuffer* input = new_floats(1, (const int64_t[]){100}, 1);
  MaxBuffer* output = NULL;
  CHECK(maxModelCapture(model, 0, &input, 1, NULL, &output, 1));
  CHECK(maxModelVerifyReplay(model, 0, &input, 1, NULL));
  CHECK(maxSessionSetUseOldTopK(session, 1));
  CHECK_FAILS(maxModelVerifyReplay(model, 0, &input, 1, NULL), MAX_STATUS_FAILED_PRECONDITION, "full_sort");
  CHECK(maxModelReplay(model, 0, &input, 1, NULL));
  CHECK(maxSessionSetUseOldTopK(session, 0));
  CHECK(maxModelVerifyReplay(model, 0, &input, 1, NULL));
  maxBufferRelease(k);
  maxBufferRelease(input);
  maxBufferRelease(output);
  maxModelRelease(model);
  maxSessionRelease(session);
  maxDeviceRelease(cpu);
}

/* x * w, w a weight of ones. */
static MaxModel* new_weighted(MaxSession* session) {
  const int64_t two[] = {2};
  const char* name = "w";
  MaxGraph* graph = new_graph("weighted");
  MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, two), *w = NULL;
  CHECK(maxGraphAddWeight(graph, "w", MAX_DTYPE_FLOAT32, 1, two, NULL, &w));
  CHECK(maxGraphAddOutput(graph, add_node(graph, "Mul", "scale", x, w), "y"));
  MaxBuffer* weight = new_floats(1, two, 1);
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  options.weightNames = &name;
  options.weights = &weight;
  options.weightCount = 1;
  MaxModel* model = NULL;
  CHECK(maxModelCompile(session, graph, &options, &model));
  maxBufferRelease(weight);
  maxGraphRelease(graph);
  return model;
}

static void captures_keep_their_weights(void** state) {
  (void)state;
  const char* name = "w";
  MaxSession* session = new_session(0);
  MaxModel* model = new_weighted(session);
  MaxBuffer* input = new_floats(1, (const int64_t[]){2}, 3);
  MaxBuffer* weight = new_floats(1, (const int64_t[]){2}, 10);
  MaxBuffer* output = NULL;
  CHECK(maxModelCapture(model, 1, &input, 1, NULL, &output, 1));
  CHECK(maxModelReplaceWeights(model, &name, &weight, 1));
  fill(input, 4);
  CHECK(maxModelReplay(model, 1, &input, 1, NULL));
  assert_float_equal(first_of(output), 4, 0);
  CHECK_FAILS(maxModelVerifyReplay(model, 1, &input, 1, NULL), MAX_STATUS_FAILED_PRECONDITION, "weights");
  maxBufferRelease(output);
  output = execute(model, input);
  assert_float_equal(first_of(output), 40, 0);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxBufferRelease(weight);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void replays_on_a_stream(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxDevice* cpu = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &stream));
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* output = NULL;
  CHECK(maxModelCapture(f.model, 5, &f.input, 1, &options, &output, 1));
  for (int i = 0; i < 20; ++i) CHECK(maxModelReplay(f.model, 5, &f.input, 1, &options));
  CHECK(maxModelForgetCaptured(f.model, 5)); /* what is queued still runs */
  CHECK(maxStreamSynchronize(stream, 0));
  assert_float_equal(first_of(output), 8, 0);
  maxBufferRelease(output);
  maxStreamRelease(stream);
  maxDeviceRelease(cpu);
  tear_down(&f);
}

static void given_outputs_are_captured(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer *given = new_square(2, 0), *output = NULL, *wrong = new_square(3, 0);
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = &wrong;
  CHECK_FAILS(maxModelCapture(f.model, 1, &f.input, 1, &options, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "dimension 0 is 3, expected 2");
  options.outputs = &f.input;
  CHECK_FAILS(maxModelCapture(f.model, 1, &f.input, 1, &options, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "shares memory");
  options.outputs = &given;
  CHECK(maxModelCapture(f.model, 1, &f.input, 1, &options, &output, 1));
  assert_ptr_equal(output, given);
  CHECK_FAILS(maxModelReplay(f.model, 1, &f.input, 1, &options), MAX_STATUS_INVALID_ARGUMENT, "options.outputs");
  maxBufferRelease(output);
  maxBufferRelease(given);
  maxBufferRelease(wrong);
  tear_down(&f);
}

static void bad_input(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer *output = NULL, *none = NULL;
  CHECK_FAILS(maxModelCapture(NULL, 1, &f.input, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelCapture(f.model, 1, NULL, 0, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "without inputs");
  CHECK_FAILS(maxModelCapture(f.model, 1, NULL, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "inputs");
  CHECK_FAILS(maxModelCapture(f.model, 1, &f.input, 1, NULL, &output, 0), MAX_STATUS_INVALID_ARGUMENT,
              "Number of outputs is 0, expected 1");
  CHECK_FAILS(maxModelCapture(f.model, 1, &none, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 0 ('x') is NULL");
  CHECK_FAILS(maxModelReplay(NULL, 1, &f.input, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelVerifyReplay(NULL, 1, &f.input, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelForgetCaptured(NULL, 1), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK(maxModelCapture(f.model, 1, &f.input, 1, NULL, &output, 1));
  CHECK_FAILS(maxModelReplay(f.model, 1, NULL, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "1 inputs, not 0");
  CHECK_FAILS(maxModelReplay(f.model, 1, &none, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "Input 0 is NULL");
  maxBufferRelease(output);
  tear_down(&f);

  /* What depends on values cannot be captured. */
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, MAX_TEST_DATA "/models/nonzero.onnx", NULL, &model));
  MaxBuffer* input = new_floats(1, (const int64_t[]){4}, 1);
  if (input_of(model, 0).rank == 1)
    CHECK_FAILS(maxModelCapture(model, 1, &input, 1, NULL, &output, 1), MAX_STATUS_FAILED_PRECONDITION, "NonZero");
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void* replay_often(void* argument) {
  struct fixture* f = argument;
  intptr_t failures = 0;
  for (int i = 0; i < 200; ++i) {
    const MaxStatus status = maxModelReplay(f->model, 1, &f->input, 1, NULL);
    if (status != MAX_STATUS_OK && status != MAX_STATUS_FAILED_PRECONDITION) ++failures;
  }
  return (void*)failures;
}

static void one_replay_at_a_time(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* output = NULL;
  CHECK(maxModelCapture(f.model, 1, &f.input, 1, NULL, &output, 1));
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) assert_int_equal(pthread_create(&threads[i], NULL, replay_often, &f), 0);
  for (int i = 0; i < 3; ++i) {
    void* failures = NULL;
    assert_int_equal(pthread_join(threads[i], &failures), 0);
    assert_null(failures);
  }
  assert_float_equal(first_of(output), 8, 0);
  maxBufferRelease(output);
  tear_down(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(replays_read_and_write_the_captured_buffers),
      TEST(keys_are_apart),
      TEST(verification_sees_other_steps),
      TEST(captures_keep_their_weights),
      TEST(replays_on_a_stream),
      TEST(given_outputs_are_captured),
      TEST(bad_input),
      TEST(one_replay_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
