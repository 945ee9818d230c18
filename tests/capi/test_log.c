/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that listen to the library, side by side, as those of several languages in one process do. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models.h"

/* What a language keeps for its listener. */
struct listener {
  atomic_int calls;
  atomic_int is_removed, late_calls;
  MaxLogLevel lowest;
  MaxLogToken token;
  char last[200];
};

static void hear(void* user_data, MaxLogLevel level, const char* message) {
  struct listener* listener = user_data;
  ++listener->calls;
  if (listener->is_removed) ++listener->late_calls;
  if (level < listener->lowest) listener->lowest = level;
  snprintf(listener->last, sizeof listener->last, "%s", message);
}

static void add(struct listener* listener, MaxLogCallback callback, MaxLogLevel level) {
  listener->lowest = MAX_LOG_LEVEL_CRITICAL;
  CHECK(maxLogAddCallback(callback, listener, level, &listener->token));
  assert_true(listener->token != 0);
}

/* Messages of all levels from info on: a load, and one that fails. */
static void speak(MaxSession* session) {
  MaxModel* model = NULL;
  maxModelRelease(new_unary(session, "Neg", "negate"));
  CHECK_FAILS(maxModelLoad(session, "/nowhere/model.onnx", NULL, &model), MAX_STATUS_NOT_FOUND, "nowhere");
}

static void test_functions_listen_side_by_side(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct listener all = {0}, errors = {0};
  add(&all, hear, MAX_LOG_LEVEL_NOTSET);
  add(&errors, hear, MAX_LOG_LEVEL_ERROR);
  assert_true(all.token != errors.token);
  speak(session);
  assert_int_equal(all.calls, 2);
  assert_int_equal(all.lowest, MAX_LOG_LEVEL_INFO);
  assert_int_equal(errors.calls, 1);
  assert_int_equal(errors.lowest, MAX_LOG_LEVEL_ERROR);
  assert_non_null(strstr(errors.last, "Cannot load"));

  CHECK(maxLogRemoveCallback(all.token));
  speak(session);
  assert_int_equal(all.calls, 2);
  assert_int_equal(errors.calls, 2);
  CHECK(maxLogRemoveCallback(errors.token));
  speak(session);
  assert_int_equal(errors.calls, 2);
  maxSessionRelease(session);
}

static void test_a_level_of_a_session_comes_first(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct listener trace = {0};
  add(&trace, hear, MAX_LOG_LEVEL_TRACE);
  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_ERROR));
  speak(session);
  assert_int_equal(trace.calls, 1);
  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_TRACE));
  speak(session);
  assert_int_equal(trace.lowest, MAX_LOG_LEVEL_TRACE);
  CHECK(maxLogRemoveCallback(trace.token));
  maxSessionRelease(session);
}

static void test_a_function_added_twice_is_called_twice(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct listener listener = {0};
  MaxLogToken first = 0;
  add(&listener, hear, MAX_LOG_LEVEL_ERROR);
  first = listener.token;
  add(&listener, hear, MAX_LOG_LEVEL_ERROR);
  speak(session);
  assert_int_equal(listener.calls, 2);
  CHECK(maxLogRemoveCallback(first));
  speak(session);
  assert_int_equal(listener.calls, 3);
  CHECK(maxLogRemoveCallback(listener.token));
  maxSessionRelease(session);
}

static void test_wrong_arguments(void** state) {
  (void)state;
  struct listener listener = {0};
  MaxLogToken token = 7;
  CHECK_FAILS(maxLogAddCallback(NULL, NULL, 0, &token), MAX_STATUS_INVALID_ARGUMENT, "'callback' is NULL");
  assert_true(token == 0);
  CHECK_FAILS(maxLogAddCallback(hear, &listener, 35, &token), MAX_STATUS_INVALID_ARGUMENT, "Log level is 35");
  CHECK_FAILS(maxLogAddCallback(hear, &listener, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outToken' is NULL");
  CHECK_FAILS(maxLogRemoveCallback(0), MAX_STATUS_NOT_FOUND, "token 0");
  add(&listener, hear, MAX_LOG_LEVEL_NOTSET);
  CHECK(maxLogRemoveCallback(listener.token));
  const MaxLogToken old = listener.token;
  add(&listener, hear, MAX_LOG_LEVEL_NOTSET);
  CHECK_FAILS(maxLogRemoveCallback(old), MAX_STATUS_NOT_FOUND, "There is no log callback with token");
  CHECK(maxLogRemoveCallback(listener.token));
}

/* From within a function: it removes itself, adds another one and uses the library. */
static struct listener successor;

static void remove_itself(void* user_data, MaxLogLevel level, const char* message) {
  struct listener* listener = user_data;
  hear(listener, level, message);
  CHECK(maxLogRemoveCallback(listener->token));
  CHECK_FAILS(maxLogRemoveCallback(listener->token), MAX_STATUS_NOT_FOUND, "token");
  add(&successor, hear, MAX_LOG_LEVEL_ERROR);
  MaxSession* session = new_session(0);
  maxModelRelease(new_unary(session, "Neg", "negate"));
  maxSessionRelease(session);
}

static void test_a_function_removes_itself(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct listener listener = {0};
  memset(&successor, 0, sizeof successor);
  add(&listener, remove_itself, MAX_LOG_LEVEL_NOTSET);
  speak(session);
  assert_int_equal(listener.calls, 1);
  assert_int_equal(successor.calls, 1);
  CHECK(maxLogRemoveCallback(successor.token));
  maxSessionRelease(session);
}

/* Two functions that remove each other, each in its thread, at the same time: neither waits. */
struct pair {
  struct listener own;
  struct listener* other;
  atomic_int* inside;
};

static void remove_other(void* user_data, MaxLogLevel level, const char* message) {
  struct pair* pair = user_data;
  (void)level, (void)message;
  ++*pair->inside;
  while (*pair->inside < 2) sched_yield();
  (void)!maxLogRemoveCallback(pair->other->token);
}

static void* fail_to_load(void* session) {
  MaxModel* model = NULL;
  (void)!maxModelLoad(session, "/nowhere/model.onnx", NULL, &model);
  return NULL;
}

static void test_functions_remove_each_other(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  atomic_int inside = 0;
  struct pair a = {.inside = &inside}, b = {.inside = &inside};
  a.other = &b.own;
  b.other = &a.own;
  CHECK(maxLogAddCallback(remove_other, &a, MAX_LOG_LEVEL_ERROR, &a.own.token));
  CHECK(maxLogAddCallback(remove_other, &b, MAX_LOG_LEVEL_ERROR, &b.own.token));
  alarm(20); /* a deadlock ends the test */
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fail_to_load, session), 0);
  fail_to_load(session);
  assert_int_equal(pthread_join(thread, NULL), 0);
  alarm(0);
  (void)!maxLogRemoveCallback(a.own.token);
  (void)!maxLogRemoveCallback(b.own.token);
  maxSessionRelease(session);
}

/* A removal waits for a call that has begun in another thread. */
struct slow {
  atomic_int has_begun, is_done;
};

static void take_time(void* user_data, MaxLogLevel level, const char* message) {
  struct slow* slow = user_data;
  (void)level, (void)message;
  slow->has_begun = 1;
  sleep_ms(50);
  slow->is_done = 1;
}

static void test_a_removal_waits_for_calls(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct slow slow = {0};
  MaxLogToken token = 0;
  CHECK(maxLogAddCallback(take_time, &slow, MAX_LOG_LEVEL_ERROR, &token));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fail_to_load, session), 0);
  while (!slow.has_begun) sched_yield();
  CHECK(maxLogRemoveCallback(token));
  assert_int_equal(slow.is_done, 1);
  assert_int_equal(pthread_join(thread, NULL), 0);
  maxSessionRelease(session);
}

/* Threads log while others listen for a moment: no callback is called after its removal. */
struct crowd {
  MaxSession* session;
  atomic_int is_done;
};

static void* speak_in_crowd(void* argument) {
  struct crowd* crowd = argument;
  while (!crowd->is_done) fail_to_load(crowd->session);
  return NULL;
}

/* Of several threads at once. */
static void count(void* user_data, MaxLogLevel level, const char* message) {
  struct listener* listener = user_data;
  (void)level, (void)message;
  ++listener->calls;
  if (listener->is_removed) ++listener->late_calls;
}

static void* listen_in_crowd(void* argument) {
  (void)argument;
  for (int i = 0; i < 100; ++i) {
    struct listener* listener = calloc(1, sizeof *listener);
    CHECK(maxLogAddCallback(count, listener, MAX_LOG_LEVEL_ERROR, &listener->token));
    for (int j = 0; j < i % 5; ++j) sched_yield();
    CHECK(maxLogRemoveCallback(listener->token));
    listener->is_removed = 1;
    sched_yield();
    assert_int_equal(listener->late_calls, 0);
    free(listener);
  }
  return NULL;
}

static void test_nobody_is_called_after_the_removal(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct crowd crowd = {session, 0};
  pthread_t speakers[2], listeners[2];
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&speakers[i], NULL, speak_in_crowd, &crowd), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&listeners[i], NULL, listen_in_crowd, NULL), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(listeners[i], NULL), 0);
  crowd.is_done = 1;
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(speakers[i], NULL), 0);
  maxSessionRelease(session);
}

/* A child of a function that is running removes it; its parent's other calls are gone. */
static void fork_within(void* user_data, MaxLogLevel level, const char* message) {
  struct listener* listener = user_data;
  int status = -1;
  (void)level, (void)message;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(maxLogRemoveCallback(listener->token) == MAX_STATUS_OK ? 0 : 1);
  }
  assert_true(child > 0 && waitpid(child, &status, 0) == child);
  assert_int_equal(status, 0);
  ++listener->calls;
}

static void test_children(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  struct listener listener = {0};
  add(&listener, fork_within, MAX_LOG_LEVEL_ERROR);
  fail_to_load(session);
  assert_int_equal(listener.calls, 1);
  CHECK(maxLogRemoveCallback(listener.token));
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_functions_listen_side_by_side),
      TEST(test_a_level_of_a_session_comes_first),
      TEST(test_a_function_added_twice_is_called_twice),
      TEST(test_wrong_arguments),
      TEST(test_a_function_removes_itself),
      TEST(test_functions_remove_each_other),
      TEST(test_a_removal_waits_for_calls),
      TEST(test_nobody_is_called_after_the_removal),
      TEST(test_children),
  };
  return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
