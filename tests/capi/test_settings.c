/* SPDX-License-Identifier: Apache-2.0 */
/* What a session can be told: log level, checks, accumulation, TopK, profiling. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "models.h"

/* Messages by level, from any thread. */
struct messages {
  int counts[8];
  char text[1 << 14];
  pthread_mutex_t mutex;
  MaxLogToken token;
};

static void note(void* user_data, MaxLogLevel level, const char* message) {
  struct messages* messages = user_data;
  pthread_mutex_lock(&messages->mutex);
  ++messages->counts[level / 10];
  const size_t used = strlen(messages->text);
  snprintf(messages->text + used, sizeof messages->text - used, "%s\n", message);
  pthread_mutex_unlock(&messages->mutex);
}

static struct messages* listen(void) {
  struct messages* messages = calloc(1, sizeof *messages);
  pthread_mutex_init(&messages->mutex, NULL);
  CHECK(maxLogAddCallback(note, messages, MAX_LOG_LEVEL_NOTSET, &messages->token));
  return messages;
}

static void stop_listening(struct messages* messages) {
  CHECK(maxLogRemoveCallback(messages->token));
  pthread_mutex_destroy(&messages->mutex);
  free(messages);
}

static void settings_are_kept(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxLogLevel level = -1;
  MaxAssertLevel asserts = -1;
  MaxProfilingMode profiling = -1;
  MaxDType dtype = MAX_DTYPE_INVALID;
  int32_t old = -1;
  CHECK(maxSessionGetLogLevel(session, &level));
  assert_int_equal(level, MAX_LOG_LEVEL_INFO);
  CHECK(maxSessionGetAssertLevel(session, &asserts));
  assert_int_equal(asserts, MAX_ASSERT_LEVEL_NONE);
  CHECK(maxSessionGetProfiling(session, &profiling));
  assert_int_equal(profiling, MAX_PROFILING_MODE_OFF);
  CHECK(maxSessionGetSplitKReductionPrecision(session, &dtype));
  assert_int_equal(dtype, MAX_DTYPE_FLOAT32);
  CHECK(maxSessionGetUseOldTopK(session, &old));
  assert_int_equal(old, 0);

  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_ERROR));
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_SAFE));
  CHECK(maxSessionSetProfiling(session, MAX_PROFILING_MODE_DETAILED));
  CHECK(maxSessionSetSplitKReductionPrecision(session, MAX_DTYPE_BFLOAT16));
  CHECK(maxSessionSetUseOldTopK(session, 7));
  CHECK(maxSessionGetLogLevel(session, &level));
  assert_int_equal(level, MAX_LOG_LEVEL_ERROR);
  CHECK(maxSessionGetAssertLevel(session, &asserts));
  assert_int_equal(asserts, MAX_ASSERT_LEVEL_SAFE);
  CHECK(maxSessionGetProfiling(session, &profiling));
  assert_int_equal(profiling, MAX_PROFILING_MODE_DETAILED);
  CHECK(maxSessionGetSplitKReductionPrecision(session, &dtype));
  assert_int_equal(dtype, MAX_DTYPE_BFLOAT16);
  CHECK(maxSessionGetUseOldTopK(session, &old));
  assert_int_equal(old, 1);
  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_NOTSET));
  CHECK(maxSessionGetLogLevel(session, &level));
  assert_int_equal(level, MAX_LOG_LEVEL_INFO);
  maxSessionRelease(session);
}

static void wrong_settings_are_refused(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  int32_t number = 0;
  CHECK_FAILS(maxSessionSetLogLevel(session, 11), MAX_STATUS_INVALID_ARGUMENT,
              "Log level is 11; the levels are 0, 10, 20");
  CHECK_FAILS(maxSessionSetLogLevel(session, 70), MAX_STATUS_INVALID_ARGUMENT, "Log level is 70");
  CHECK_FAILS(maxSessionSetAssertLevel(session, 4), MAX_STATUS_INVALID_ARGUMENT,
              "Assert level is 4; it must be 0 to 3");
  CHECK_FAILS(maxSessionSetProfiling(session, -1), MAX_STATUS_INVALID_ARGUMENT,
              "Profiling mode is -1; it must be 0 to 2");
  CHECK_FAILS(maxSessionSetSplitKReductionPrecision(session, MAX_DTYPE_INT32), MAX_STATUS_INVALID_ARGUMENT, "int32");
  CHECK_FAILS(maxSessionSetLogLevel(NULL, MAX_LOG_LEVEL_INFO), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionSetAssertLevel(NULL, 0), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionSetProfiling(NULL, 0), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionSetUseOldTopK(NULL, 0), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionSetSplitKReductionPrecision(NULL, MAX_DTYPE_FLOAT32), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetLogLevel(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetAssertLevel(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outLevel");
  CHECK_FAILS(maxSessionGetProfiling(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outMode");
  CHECK_FAILS(maxSessionGetUseOldTopK(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outUseOldTopK");
  CHECK_FAILS(maxSessionGetSplitKReductionPrecision(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outDType");
  CHECK_FAILS(maxSessionClearProfile(NULL), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionWriteProfile(NULL, "x"), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionWriteProfile(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "path");
  CHECK_FAILS(maxSessionWriteProfile(session, "/nowhere/trace.json"), MAX_STATUS_NOT_FOUND, "/nowhere/trace.json");
  maxSessionRelease(session);
}

static void levels_filter_the_log(void** state) {
  (void)state;
  struct messages* messages = listen();
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Neg", "negate");
  MaxBuffer* input = new_floats(1, (const int64_t[]){3}, 1);
  assert_int_equal(messages->counts[MAX_LOG_LEVEL_INFO / 10], 1);
  assert_int_equal(messages->counts[MAX_LOG_LEVEL_TRACE / 10], 0);
  assert_non_null(strstr(messages->text, "Loaded Neg in"));
  maxModelRelease(model);

  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_TRACE));
  model = new_unary(session, "Neg", "negate");
  assert_non_null(strstr(messages->text, "pass simplify"));
  assert_null(strstr(messages->text, "a plan with"));
  maxBufferRelease(execute(model, input));
  assert_non_null(strstr(messages->text, "Graph 'Neg': a plan with 1 steps"));
  const int plans = messages->counts[MAX_LOG_LEVEL_TRACE / 10];
  maxBufferRelease(execute(model, input));
  assert_int_equal(messages->counts[MAX_LOG_LEVEL_TRACE / 10], plans);
  maxModelRelease(model);

  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_CRITICAL));
  const size_t length = strlen(messages->text);
  model = new_unary(session, "Neg", "negate");
  maxBufferRelease(execute(model, input));
  assert_int_equal(strlen(messages->text), length);
  maxModelRelease(model);
  maxBufferRelease(input);
  maxSessionRelease(session);
  stop_listening(messages);
}

static void limits_are_logged(void** state) {
  (void)state;
  struct messages* messages = listen();
  MaxSession* session = new_session(10000);
  MaxModel* model = new_unary(session, "Neg", "negate");
  MaxBuffer* input = new_floats(1, (const int64_t[]){30000}, 1);
  MaxBuffer* output = NULL;
  CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_RESOURCE_EXHAUSTED, "limit is 10000");
  assert_non_null(strstr(messages->text, "Model 'Neg'"));
  assert_true(messages->counts[MAX_LOG_LEVEL_WARNING / 10] > 0);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
  stop_listening(messages);
}

static void checks_find_infinities(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Log", "logarithm");
  MaxBuffer* good = new_floats(1, (const int64_t[]){70}, 1);
  MaxBuffer* bad = new_floats(1, (const int64_t[]){70}, 0);
  MaxBuffer* infinite = new_floats(1, (const int64_t[]){70}, INFINITY);
  MaxBuffer* output = NULL;
  maxBufferRelease(execute(model, bad));
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_SAFE));
  maxBufferRelease(execute(model, bad));
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_ALL));
  CHECK_FAILS(maxModelExecute(model, &bad, 1, NULL, &output, 1), MAX_STATUS_FAILED_PRECONDITION, "'logarithm'");
  assert_null(output);
  maxBufferRelease(execute(model, good));
  maxBufferRelease(execute(model, infinite)); /* which came from outside */

  struct messages* messages = listen();
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_WARN));
  maxBufferRelease(execute(model, bad));
  assert_int_equal(messages->counts[MAX_LOG_LEVEL_WARNING / 10], 1);
  assert_non_null(strstr(messages->text, "NaN or infinity"));
  stop_listening(messages);
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_NONE));
  maxBufferRelease(execute(model, bad));
  maxBufferRelease(good);
  maxBufferRelease(bad);
  maxBufferRelease(infinite);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* All checks on a whole network: nothing is found, results are those without checks. */
static void checks_leave_networks_alone(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, MAX_TEST_DATA "/../../examples/digits/digits.onnx", NULL, &model));
  MaxBuffer* input = new_floats(4, (const int64_t[]){16, 1, 8, 8}, 0.5f);
  MaxBuffer* plain = execute(model, input);
  CHECK(maxSessionSetAssertLevel(session, MAX_ASSERT_LEVEL_ALL));
  MaxBuffer* checked = execute(model, input);
  size_t bytes = info_of(plain).byteCount;
  assert_memory_equal(data_of(plain), data_of(checked), bytes);
  maxBufferRelease(plain);
  maxBufferRelease(checked);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* a row times a column of 8 parts: a large first element, then small ones that float32 loses beside it. */
static float long_product(MaxSession* session, float large, float small) {
  enum { LENGTH = 8192 };
  MaxGraph* graph = new_graph("product");
  MaxGraphValue* a = add_input(graph, "a", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){1, LENGTH});
  MaxGraphValue* b = add_input(graph, "b", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){LENGTH, 1});
  CHECK(maxGraphAddOutput(graph, add_node(graph, "MatMul", "product", a, b), "y"));
  MaxModel* model = compile(session, graph);
  MaxBuffer* inputs[] = {new_floats(2, (const int64_t[]){1, LENGTH}, 0),
                         new_floats(2, (const int64_t[]){LENGTH, 1}, 1)};
  float* row = data_of(inputs[0]);
  row[0] = large;
  for (int i = 1; i < 8; ++i) row[1024 * i] = small;
  MaxBuffer* output = NULL;
  CHECK(maxModelExecute(model, inputs, 2, NULL, &output, 1));
  const float result = first_of(output);
  maxBufferRelease(output);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
  return result;
}

static void partial_sums_have_the_chosen_type(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  assert_float_equal(long_product(session, 16777216, 1), 16777216, 0);
  CHECK(maxSessionSetSplitKReductionPrecision(session, MAX_DTYPE_FLOAT64));
  assert_float_equal(long_product(session, 16777216, 1), 16777224, 0); /* 16777223 to the nearest float32 */
  CHECK(maxSessionSetSplitKReductionPrecision(session, MAX_DTYPE_FLOAT16));
  assert_float_equal(long_product(session, 2048, 1), 2048, 0);
  CHECK(maxSessionSetSplitKReductionPrecision(session, MAX_DTYPE_BFLOAT16));
  assert_float_equal(long_product(session, 256, 1), 256, 0);
  CHECK(maxSessionSetSplitKReductionPrecision(session, MAX_DTYPE_FLOAT32));
  assert_float_equal(long_product(session, 2048, 1), 2055, 0);
  maxSessionRelease(session);
}

/* The whole text of a file, to be freed. */
static char* text_of(const char* path) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  enum { MOST = 1 << 26 };
  char* text = calloc(1, MOST);
  assert_true(fread(text, 1, MOST - 1, file) > 0);
  fclose(file);
  return text;
}

static char* profile_of(const MaxSession* session) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/max-profile-%d.json", (int)getpid());
  CHECK(maxSessionWriteProfile(session, path));
  char* text = text_of(path);
  remove(path);
  return text;
}

static int occurrences(const char* text, const char* word) {
  int count = 0;
  for (const char* at = strstr(text, word); at; at = strstr(at + 1, word)) ++count;
  return count;
}

static void profiles_name_steps(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_power(session, 2);
  MaxBuffer* input = new_square(2, 1);
  maxBufferRelease(execute(model, input));
  CHECK(maxSessionSetProfiling(session, MAX_PROFILING_MODE_ON));
  maxBufferRelease(execute(model, input));
  maxBufferRelease(execute(model, input));
  CHECK(maxSessionSetProfiling(session, MAX_PROFILING_MODE_OFF));
  maxBufferRelease(execute(model, input));
  char* text = profile_of(session);
  assert_int_equal(occurrences(text, "\"name\":\"power\""), 2);
  assert_int_equal(occurrences(text, "product1"), occurrences(text, "product0"));
  assert_true(occurrences(text, "product0") >= 2);
  assert_int_equal(occurrences(text, "\"implementation\":\"gemm_f32\""), 4);
  assert_int_equal(occurrences(text, "\"outputs\":\"float32[2, 2]\""), 4);
  free(text);
  maxModelRelease(model);
  CHECK(maxSessionClearProfile(session));
  text = profile_of(session);
  assert_int_equal(occurrences(text, "power"), 0);
  free(text);
  maxBufferRelease(input);
  maxSessionRelease(session);
}

/* Steps within a loop are recorded in the detailed mode only. */
static void details_of_loops(void** state) {
  (void)state;
  for (MaxProfilingMode mode = MAX_PROFILING_MODE_ON; mode <= MAX_PROFILING_MODE_DETAILED; ++mode) {
    MaxSession* session = new_session(0);
    CHECK(maxSessionSetProfiling(session, mode));
    MaxModel* model = new_endless(session);
    MaxBuffer* inputs[] = {new_floats(1, (const int64_t[]){1}, 1), new_floats(1, (const int64_t[]){1}, 0)};
    MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
    int calls = 0, steps = 0;
    do { /* on a busy machine a call may end before its first step */
      options.timeoutNs = INT64_C(5000000) << calls++;
      MaxBuffer* output = NULL;
      CHECK_FAILS(maxModelExecute(model, inputs, 2, &options, &output, 1), MAX_STATUS_DEADLINE_EXCEEDED, "000 ns");
      char* text = profile_of(session);
      assert_int_equal(occurrences(text, "\"name\":\"endless\""), calls); /* failed calls too */
      steps = occurrences(text, "advance");
      free(text);
    } while (mode == MAX_PROFILING_MODE_DETAILED && steps == 0 && calls < 8);
    assert_int_equal(steps > 0, mode == MAX_PROFILING_MODE_DETAILED);
    maxBufferRelease(inputs[0]);
    maxBufferRelease(inputs[1]);
    maxModelRelease(model);
    maxSessionRelease(session);
  }
}

/* Everything at the same time. */
struct crowd {
  MaxSession* session;
  MaxModel* model;
  int is_done;
  int failures;
};

static void* run_in_crowd(void* argument) {
  struct crowd* crowd = argument;
  MaxBuffer* input = new_square(8, 1);
  for (int i = 0; i < 150; ++i) {
    MaxBuffer* output = NULL;
    if (maxModelExecute(crowd->model, &input, 1, NULL, &output, 1) != MAX_STATUS_OK)
      __atomic_fetch_add(&crowd->failures, 1, __ATOMIC_SEQ_CST);
    maxBufferRelease(output);
  }
  maxBufferRelease(input);
  return NULL;
}

static void* change_settings(void* argument) {
  struct crowd* crowd = argument;
  for (int i = 0; !__atomic_load_n(&crowd->is_done, __ATOMIC_SEQ_CST); ++i) {
    MaxStatus status = maxSessionSetAssertLevel(crowd->session, i % 4);
    if (status == MAX_STATUS_OK) status = maxSessionSetUseOldTopK(crowd->session, i % 2);
    if (status == MAX_STATUS_OK) status = maxSessionSetLogLevel(crowd->session, 10 * (i % 7));
    if (status == MAX_STATUS_OK) status = maxSessionSetProfiling(crowd->session, i % 3);
    if (status == MAX_STATUS_OK && i % 50 == 0) status = maxSessionClearProfile(crowd->session);
    if (status != MAX_STATUS_OK) __atomic_fetch_add(&crowd->failures, 1, __ATOMIC_SEQ_CST);
    sleep_ms(1);
  }
  return NULL;
}

static void threads_change_settings(void** state) {
  (void)state;
  struct messages* messages = listen();
  MaxSession* session = new_session(0);
  struct crowd crowd = {session, new_power(session, 3), 0, 0};
  pthread_t runners[2], changer;
  assert_int_equal(pthread_create(&changer, NULL, change_settings, &crowd), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&runners[i], NULL, run_in_crowd, &crowd), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(runners[i], NULL), 0);
  __atomic_store_n(&crowd.is_done, 1, __ATOMIC_SEQ_CST);
  assert_int_equal(pthread_join(changer, NULL), 0);
  assert_int_equal(crowd.failures, 0);
  maxModelRelease(crowd.model);
  maxSessionRelease(session);
  stop_listening(messages);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(settings_are_kept),
      TEST(wrong_settings_are_refused),
      TEST(levels_filter_the_log),
      TEST(limits_are_logged),
      TEST(checks_find_infinities),
      TEST(checks_leave_networks_alone),
      TEST(partial_sums_have_the_chosen_type),
      TEST(profiles_name_steps),
      TEST(details_of_loops),
      TEST(threads_change_settings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
