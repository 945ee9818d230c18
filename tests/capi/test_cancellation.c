/* SPDX-License-Identifier: Apache-2.0 */
/* Cancellation and deadlines, of executions and loads, on the default stream and on created ones. */
#define _GNU_SOURCE
#include <pthread.h>

#include "models.h"

enum { SIZE = 700, PRODUCTS = 4000 }; /* seconds of work */

/* Far more than the few milliseconds that it takes: machines are busy, and sanitizers slow. */
static const double patience = 2;

struct later {
  MaxCancellation* cancellation;
  int milliseconds;
  double cancelled_at;
};

static void* cancel_later(void* argument) {
  struct later* later = argument;
  sleep_ms(later->milliseconds);
  later->cancelled_at = seconds_now();
  if (maxCancellationCancel(later->cancellation) != MAX_STATUS_OK) later->cancelled_at = 0;
  return NULL;
}

/* Executes while another thread cancels. */
static void expect_cancelled(const MaxModel* model, MaxBuffer* const* inputs, int32_t count) {
  struct later later = {NULL, 30, 0};
  CHECK(maxCancellationCreate(&later.cancellation));
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.cancellation = later.cancellation;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, cancel_later, &later), 0);
  MaxBuffer* output = NULL;
  CHECK_FAILS(maxModelExecute(model, inputs, count, &options, &output, 1), MAX_STATUS_CANCELLED, "Cancelled");
  const double returned_at = seconds_now();
  assert_null(output);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(returned_at - later.cancelled_at < patience);
  maxCancellationRelease(later.cancellation);
}

static void a_cancellation_is_a_switch(void** state) {
  (void)state;
  MaxCancellation* cancellation = NULL;
  int32_t is_cancelled = -1;
  CHECK(maxCancellationCreate(&cancellation));
  CHECK(maxCancellationIsCancelled(cancellation, &is_cancelled));
  assert_int_equal(is_cancelled, 0);
  CHECK(maxCancellationCancel(cancellation));
  CHECK(maxCancellationCancel(cancellation));
  CHECK(maxCancellationIsCancelled(cancellation, &is_cancelled));
  assert_int_equal(is_cancelled, 1);
  CHECK(maxCancellationReset(cancellation));
  CHECK(maxCancellationIsCancelled(cancellation, &is_cancelled));
  assert_int_equal(is_cancelled, 0);
  maxCancellationRetain(cancellation);
  maxCancellationRelease(cancellation);
  maxCancellationRelease(cancellation);
  maxCancellationRetain(NULL);
  maxCancellationRelease(NULL);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  MaxCancellation* cancellation = NULL;
  int32_t is_cancelled = 0;
  CHECK_FAILS(maxCancellationCreate(NULL), MAX_STATUS_INVALID_ARGUMENT, "outCancellation");
  CHECK_FAILS(maxCancellationCancel(NULL), MAX_STATUS_INVALID_ARGUMENT, "cancellation");
  CHECK_FAILS(maxCancellationReset(NULL), MAX_STATUS_INVALID_ARGUMENT, "cancellation");
  CHECK_FAILS(maxCancellationIsCancelled(NULL, &is_cancelled), MAX_STATUS_INVALID_ARGUMENT, "cancellation");
  CHECK(maxCancellationCreate(&cancellation));
  CHECK_FAILS(maxCancellationIsCancelled(cancellation, NULL), MAX_STATUS_INVALID_ARGUMENT, "outIsCancelled");
  maxCancellationRelease(cancellation);
}

static void a_running_call_is_cancelled(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_power(session, PRODUCTS);
  MaxBuffer* large = new_square(SIZE, 0);
  MaxBuffer* small = new_square(2, 1);
  for (int i = 0; i < 3; ++i) {
    expect_cancelled(model, &large, 1);
    maxBufferRelease(execute(model, small)); /* the model is as good as new */
  }
  maxBufferRelease(large);
  maxBufferRelease(small);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* One product that alone takes seconds: chunks of a step are asked too. */
static void a_long_step_is_cancelled(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_power(session, 1);
  MaxBuffer* large = new_square(3000, 0);
  expect_cancelled(model, &large, 1);
  maxBufferRelease(large);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void an_endless_loop_is_cancelled(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_endless(session);
  MaxBuffer* inputs[] = {new_floats(1, (const int64_t[]){1}, 1), new_floats(1, (const int64_t[]){1}, 0)};
  expect_cancelled(model, inputs, 2);
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.timeoutNs = 20000000;
  MaxBuffer* output = NULL;
  CHECK_FAILS(maxModelExecute(model, inputs, 2, &options, &output, 1), MAX_STATUS_DEADLINE_EXCEEDED, "node '");
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void cancelled_before_it_begins(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Neg", "negate");
  MaxBuffer* input = new_floats(1, (const int64_t[]){4}, 3);
  MaxBuffer* output = NULL;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  MaxCancellation* cancellation = NULL;
  CHECK(maxCancellationCreate(&cancellation));
  options.cancellation = cancellation;
  CHECK(maxCancellationCancel(cancellation));
  CHECK_FAILS(maxModelExecute(model, &input, 1, &options, &output, 1), MAX_STATUS_CANCELLED, "Cancelled");
  CHECK(maxCancellationReset(cancellation));
  CHECK(maxModelExecute(model, &input, 1, &options, &output, 1));
  assert_float_equal(first_of(output), -3, 0);
  maxBufferRelease(output);
  maxCancellationRelease(cancellation);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void a_deadline_ends_a_call(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_power(session, PRODUCTS);
  MaxBuffer* large = new_square(SIZE, 0);
  MaxBuffer* small = new_square(2, 1);
  MaxBuffer* output = NULL;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.timeoutNs = 20000000;
  const double start = seconds_now();
  CHECK_FAILS(maxModelExecute(model, &large, 1, &options, &output, 1), MAX_STATUS_DEADLINE_EXCEEDED, "20000000 ns");
  assert_true(seconds_now() - start < patience);
  options.timeoutNs = INT64_MAX;
  CHECK(maxModelExecute(model, &small, 1, &options, &output, 1));
  maxBufferRelease(output);
  options.timeoutNs = -1;
  CHECK_FAILS(maxModelExecute(model, &small, 1, &options, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "timeoutNs is -1; it must be at least 0");
  maxBufferRelease(large);
  maxBufferRelease(small);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* The failure stays with the stream until it is synchronised, once; the handles may go before. */
static void queued_calls_are_stopped(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_power(session, PRODUCTS);
  MaxDevice* cpu = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &stream));
  MaxBuffer* large = new_square(SIZE, 0);
  MaxBuffer* outputs[2] = {NULL, NULL};
  MaxCancellation* cancellation = NULL;
  CHECK(maxCancellationCreate(&cancellation));
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  options.cancellation = cancellation;
  CHECK(maxModelExecute(model, &large, 1, &options, &outputs[0], 1));
  assert_non_null(outputs[0]);
  sleep_ms(20);
  CHECK(maxCancellationCancel(cancellation));
  maxCancellationRelease(cancellation);
  const double start = seconds_now();
  CHECK_FAILS(maxStreamSynchronize(stream, 0), MAX_STATUS_CANCELLED, "Cancelled");
  assert_true(seconds_now() - start < patience);
  CHECK(maxStreamSynchronize(stream, 0));

  options.cancellation = NULL;
  options.timeoutNs = 20000000; /* the wait in the queue counts */
  CHECK(maxModelExecute(model, &large, 1, &options, &outputs[1], 1));
  CHECK_FAILS(maxStreamSynchronize(stream, 0), MAX_STATUS_DEADLINE_EXCEEDED, "20000000 ns");
  maxBufferRelease(outputs[0]);
  maxBufferRelease(outputs[1]);
  maxBufferRelease(large);
  maxModelRelease(model);
  maxSessionRelease(session);
  maxStreamRelease(stream);
  maxDeviceRelease(cpu);
}

static void sleep_on_the_stream(void* user_data, MaxStatus status) {
  (void)status;
  sleep_ms(*(int*)user_data);
}

/* A call that must wait for earlier work, since its shapes depend on values, waits no longer than it may. */
static void waits_are_cut_short(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_loop(session, 1);
  MaxDevice* cpu = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &stream));
  MaxBuffer* inputs[] = {new_buffer(cpu, MAX_DTYPE_INT64, 0, NULL), new_floats(1, (const int64_t[]){1}, 1),
                         new_floats(1, (const int64_t[]){1}, 0)};
  *(int64_t*)data_of(inputs[0]) = 3;
  MaxBuffer* outputs[2] = {NULL, NULL};
  int milliseconds = 2000;
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_on_the_stream, &milliseconds));
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  options.timeoutNs = 20000000;
  const double start = seconds_now();
  CHECK_FAILS(maxModelExecute(model, inputs, 3, &options, outputs, 2), MAX_STATUS_DEADLINE_EXCEEDED, "20000000 ns");
  assert_true(seconds_now() - start < 1.8);
  options.timeoutNs = 0;
  CHECK(maxModelExecute(model, inputs, 3, &options, outputs, 2));
  assert_true(seconds_now() - start > 1.8);
  assert_float_equal(first_of(outputs[0]), 3, 0);
  for (int i = 0; i < 3; ++i) maxBufferRelease(inputs[i]);
  for (int i = 0; i < 2; ++i) maxBufferRelease(outputs[i]);
  maxModelRelease(model);
  maxSessionRelease(session);
  maxStreamRelease(stream);
  maxDeviceRelease(cpu);
}

/* A load that is cancelled from its own progress, or has no time. */
struct progress {
  MaxCancellation* cancellation;
  double last;
  int calls;
};

static void note_progress(void* user_data, double fraction, const char* phase) {
  struct progress* progress = user_data;
  if (fraction < progress->last || fraction > 1 || !phase || phase[0] == 0) fail_msg("fraction %g", fraction);
  progress->last = fraction;
  ++progress->calls;
  if (progress->cancellation && fraction > 0.2) CHECK(maxCancellationCancel(progress->cancellation));
}

static void loads_tell_and_stop(void** state) {
  (void)state;
  const char* path = MAX_TEST_DATA "/models/tiny_bert.onnx";
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  struct progress progress = {NULL, 0, 0};
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  options.progress = note_progress;
  options.progressUserData = &progress;
  CHECK(maxModelLoad(session, path, &options, &model));
  assert_true(progress.calls > 5);
  assert_float_equal(progress.last, 1, 0);
  maxModelRelease(model);

  progress = (struct progress){NULL, 0, 0};
  CHECK(maxCancellationCreate(&progress.cancellation));
  options.cancellation = progress.cancellation;
  CHECK_FAILS(maxModelLoad(session, path, &options, &model), MAX_STATUS_CANCELLED, "Cancelled");
  assert_null(model);
  assert_true(progress.last < 1);
  maxCancellationRelease(progress.cancellation);

  options = (MaxModelLoadOptions)MAX_MODEL_LOAD_OPTIONS_INIT;
  options.timeoutNs = 1;
  CHECK_FAILS(maxModelLoad(session, path, &options, &model), MAX_STATUS_DEADLINE_EXCEEDED, "1 ns");
  options.timeoutNs = -1;
  CHECK_FAILS(maxModelLoad(session, path, &options, &model), MAX_STATUS_INVALID_ARGUMENT,
              "timeoutNs is -1; it must be at least 0");
  maxSessionRelease(session);
}

/* Many calls under one cancellation, which goes on and off. */
struct crowd {
  MaxModel* model;
  MaxCancellation* cancellation;
  int failures;
};

static void* run_in_crowd(void* argument) {
  struct crowd* crowd = argument;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.cancellation = crowd->cancellation;
  MaxBuffer* input = new_square(40, 0);
  for (int i = 0; i < 60; ++i) {
    MaxBuffer* output = NULL;
    const MaxStatus status = maxModelExecute(crowd->model, &input, 1, &options, &output, 1);
    if (status != MAX_STATUS_OK && status != MAX_STATUS_CANCELLED) __atomic_fetch_add(&crowd->failures, 1, 5);
    maxBufferRelease(output);
  }
  maxBufferRelease(input);
  return NULL;
}

static void threads_share_a_cancellation(void** state) {
  (void)state;
  enum { THREADS = 3 };
  MaxSession* session = new_session(0);
  struct crowd crowd = {new_power(session, 20), NULL, 0};
  CHECK(maxCancellationCreate(&crowd.cancellation));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_in_crowd, &crowd), 0);
  for (int i = 0; i < 50; ++i) {
    CHECK(maxCancellationCancel(crowd.cancellation));
    sleep_ms(1);
    CHECK(maxCancellationReset(crowd.cancellation));
    sleep_ms(1);
  }
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(crowd.failures, 0);
  maxCancellationRelease(crowd.cancellation);
  maxModelRelease(crowd.model);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_cancellation_is_a_switch), TEST(null_arguments_are_refused),   TEST(a_running_call_is_cancelled),
      TEST(a_long_step_is_cancelled),   TEST(an_endless_loop_is_cancelled), TEST(cancelled_before_it_begins),
      TEST(a_deadline_ends_a_call),     TEST(queued_calls_are_stopped),     TEST(waits_are_cut_short),
      TEST(loads_tell_and_stop),        TEST(threads_share_a_cancellation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
