/* SPDX-License-Identifier: Apache-2.0 */
/* What a child process may do with handles of its parent. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct handles {
  MaxDevice* device;
  MaxStream* stream;
  MaxEvent* event;
  MaxBuffer* buffer;
};

struct gate {
  sem_t reached;
  sem_t open;
};

static void wait_at_gate(void* data, MaxStatus status) {
  (void)status;
  struct gate* gate = data;
  sem_post(&gate->reached);
  sem_wait(&gate->open);
}

/* In the child of a fork, the address sanitizer's allocator keeps the locks that other threads held: under it the
 * stream's thread waits at the gate, elsewhere it may be anywhere. */
static void let_stream_come_to_rest(struct gate* gate) {
#ifdef __SANITIZE_ADDRESS__
  sem_wait(&gate->reached);
#else
  (void)gate;
#endif
}

/* In the child: the number of the first check that fails, 0 = all hold. */
static int use_in_child(struct handles* h) {
  alarm(20); /* a deadlock ends the child */
  int check = 0;
#define CHILD(condition)            \
  do {                              \
    ++check;                        \
    if (!(condition)) return check; \
  } while (0)
#define IS_FORKED(call) CHILD((call) == MAX_STATUS_FAILED_PRECONDITION && strstr(maxGetLastErrorMessage(), "forked"))
  MaxStream* main_stream = NULL;
  CHILD(maxDeviceGetDefaultStream(h->device, &main_stream) == MAX_STATUS_OK);
  const int32_t value = 5;
  CHILD(maxBufferFill(h->buffer, &value, 4, main_stream) == MAX_STATUS_OK);
  IS_FORKED(maxStreamSynchronize(h->stream, 0));
  IS_FORKED(maxBufferFill(h->buffer, &value, 4, h->stream));
  IS_FORKED(maxStreamEnqueueHostFunction(h->stream, wait_at_gate, NULL));
  IS_FORKED(maxStreamRecordEvent(h->stream, h->event));
  IS_FORKED(maxEventSynchronize(h->event, 0));
  IS_FORKED(maxStreamWaitForStream(main_stream, h->stream));
  CHILD(maxDeviceSynchronize(h->device, 0) == MAX_STATUS_OK);
  MaxStream* fresh = NULL;
  CHILD(maxStreamCreate(h->device, NULL, &fresh) == MAX_STATUS_OK);
  CHILD(maxBufferFill(h->buffer, &value, 4, fresh) == MAX_STATUS_OK);
  CHILD(maxStreamSynchronize(fresh, 0) == MAX_STATUS_OK);
  maxStreamRelease(fresh);
  maxEventRelease(h->event);
  maxBufferRelease(h->buffer);
  maxStreamRelease(h->stream);
  maxDeviceRelease(h->device);
  MaxDevice* again = NULL;
  CHILD(maxDeviceCreate("cpu", 0, NULL, &again) == MAX_STATUS_OK);
  maxDeviceRelease(again);
  return 0;
}

static void check_child(pid_t child, int round) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail_msg("child %d: exit %d, signal %d", round, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
             WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* The thread sanitizer ends a child of a process with threads that starts one. */
static void skip_under_thread_sanitizer(void) {
#ifdef __SANITIZE_THREAD__
  skip();
#endif
}

static void test_fork_with_busy_streams(void** state) {
  (void)state;
  skip_under_thread_sanitizer();
  for (int round = 0; round < 50; ++round) {
    struct handles h = {open_cpu(), NULL, NULL, NULL};
    CHECK(maxStreamCreate(h.device, NULL, &h.stream));
    CHECK(maxEventCreate(h.device, NULL, &h.event));
    h.buffer = new_counting(h.device, 1, (const int64_t[]){100});
    struct gate gate;
    sem_init(&gate.reached, 0, 0);
    sem_init(&gate.open, 0, 0);
    for (int i = 0; i < round; ++i) CHECK(maxBufferFill(h.buffer, "1234", 4, h.stream));
    CHECK(maxStreamEnqueueHostFunction(h.stream, wait_at_gate, &gate));
    CHECK(maxStreamRecordEvent(h.stream, h.event));
    let_stream_come_to_rest(&gate);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(use_in_child(&h));
    check_child(child, round);
    sem_post(&gate.open);
    CHECK(maxStreamSynchronize(h.stream, 0)); /* the parent goes on */
    sem_destroy(&gate.open);
    sem_destroy(&gate.reached);
    maxEventRelease(h.event);
    maxBufferRelease(h.buffer);
    maxStreamRelease(h.stream);
    maxDeviceRelease(h.device);
  }
}

static void test_exit_with_live_handles(void** state) {
  (void)state;
  skip_under_thread_sanitizer();
  for (int round = 0; round < 50; ++round) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      alarm(20);
      struct handles h = {open_cpu(), NULL, NULL, NULL};
      CHECK(maxStreamCreate(h.device, NULL, &h.stream));
      h.buffer = new_counting(h.device, 1, (const int64_t[]){100000});
      for (int i = 0; i < 100; ++i) CHECK(maxBufferFill(h.buffer, "1234", 4, h.stream));
      exit(0); /* while the worker runs */
    }
    check_child(child, round);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_fork_with_busy_streams),
      TEST(test_exit_with_live_handles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
