/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver sees what it is there to see. It prints each violation; those here are wanted. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../capi/check.h"
#include "control.h"

enum { NON_BLOCKING = 1, BYTES = 4096, OUT_OF_MEMORY = 2, INVALID_VALUE = 1, ILLEGAL_ADDRESS = 700 };

static struct {
  int (*init)(unsigned);
  int (*retain)(void**, int);
  int (*release)(int);
  int (*set_current)(void*);
  int (*allocate)(uint64_t*, size_t);
  int (*free)(uint64_t);
  int (*host_allocate)(void**, size_t, unsigned);
  int (*host_free)(void*);
  int (*fill)(uint64_t, unsigned char, size_t, void*);
  int (*copy)(uint64_t, uint64_t, size_t, void*);
  int (*download)(void*, uint64_t, size_t, void*);
  int (*stream_create)(void**, unsigned, int);
  int (*stream_destroy)(void*);
  int (*stream_synchronize)(void*);
  int (*stream_wait)(void*, void*, unsigned);
  int (*event_create)(void**, unsigned);
  int (*event_destroy)(void*);
  int (*event_record)(void*, void*);
  int (*event_synchronize)(void*);
  int (*host_function)(void*, void (*)(void*), void*);
  int (*event_query)(void*);
  int (*capture_begin)(void*, int);
  int (*capture_end)(void*, void**);
  int (*capture_status)(void*, int*);
  int (*capture_mode)(int*);
  int (*graph_launch)(void*, void*);
  int (*graph_destroy)(void*);
  int64_t (*live_objects)(void);
  int64_t (*violations)(void);
  void (*fail_call)(int64_t, int32_t);
  const char* (*failed_call)(void);
} fake;

static const char* const names[] = {"cuInit",
                                    "cuDevicePrimaryCtxRetain",
                                    "cuDevicePrimaryCtxRelease_v2",
                                    "cuCtxSetCurrent",
                                    "cuMemAlloc_v2",
                                    "cuMemFree_v2",
                                    "cuMemHostAlloc",
                                    "cuMemFreeHost",
                                    "cuMemsetD8Async",
                                    "cuMemcpyDtoDAsync_v2",
                                    "cuMemcpyDtoHAsync_v2",
                                    "cuStreamCreateWithPriority",
                                    "cuStreamDestroy_v2",
                                    "cuStreamSynchronize",
                                    "cuStreamWaitEvent",
                                    "cuEventCreate",
                                    "cuEventDestroy_v2",
                                    "cuEventRecord",
                                    "cuEventSynchronize",
                                    "cuLaunchHostFunc",
                                    "cuEventQuery",
                                    "cuStreamBeginCapture_v2",
                                    "cuStreamEndCapture",
                                    "cuStreamIsCapturing",
                                    "cuThreadExchangeStreamCaptureMode",
                                    "cuGraphLaunch",
                                    "cuGraphDestroy",
                                    "fakeGpuGetLiveObjectCount",
                                    "fakeGpuGetViolationCount",
                                    "fakeGpuFailCall",
                                    "fakeGpuGetFailedCall"};

/* The context of device 0, two streams, an event and some memory of it. */
static struct {
  void* context;
  void* streams[2];
  void* event;
  uint64_t memory;
  int64_t violations; /* before the test */
} f;

static int set_up(void** state) {
  (void)state;
  assert_int_equal(fake.retain(&f.context, 0), 0);
  assert_int_equal(fake.set_current(f.context), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(fake.stream_create(&f.streams[i], NON_BLOCKING, 0), 0);
  assert_int_equal(fake.event_create(&f.event, 0), 0);
  assert_int_equal(fake.allocate(&f.memory, BYTES), 0);
  f.violations = fake.violations();
  return 0;
}

static int tear_down(void** state) {
  (void)state;
  for (int i = 0; i < 2; ++i) assert_int_equal(fake.stream_synchronize(f.streams[i]), 0);
  if (f.memory) assert_int_equal(fake.free(f.memory), 0);
  assert_int_equal(fake.event_destroy(f.event), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(fake.stream_destroy(f.streams[i]), 0);
  assert_int_equal(fake.release(0), 0);
  return fake.live_objects() == 0 ? 0 : -1;
}

static int64_t new_violations(void) { return fake.violations() - f.violations; }

static void test_ordered_work_is_no_race(void** state) {
  (void)state;
  unsigned char back[BYTES];
  for (int round = 0; round < 50; ++round) {
    assert_int_equal(fake.fill(f.memory, (unsigned char)round, BYTES, f.streams[0]), 0);
    assert_int_equal(fake.event_record(f.event, f.streams[0]), 0);
    assert_int_equal(fake.stream_wait(f.streams[1], f.event, 0), 0);
    assert_int_equal(fake.copy(f.memory + 1, f.memory, 1, f.streams[1]), 0);
    assert_int_equal(fake.fill(f.memory + 2, 200, 10, f.streams[1]), 0);
    assert_int_equal(fake.download(back, f.memory, BYTES, f.streams[1]), 0); /* waits */
    assert_int_equal(back[0], round);
    assert_int_equal(back[2], 200);
    assert_int_equal(back[BYTES - 1], round);
  }
  assert_int_equal(new_violations(), 0);
}

static void test_reads_side_by_side_are_no_race(void** state) {
  (void)state;
  uint64_t other = 0;
  assert_int_equal(fake.allocate(&other, BYTES), 0);
  assert_int_equal(fake.fill(f.memory, 1, BYTES, f.streams[0]), 0);
  assert_int_equal(fake.stream_synchronize(f.streams[0]), 0);
  assert_int_equal(fake.copy(other, f.memory, 100, f.streams[0]), 0);
  assert_int_equal(fake.copy(other + 100, f.memory, 100, f.streams[1]), 0);
  assert_int_equal(new_violations(), 0);
  assert_int_equal(fake.fill(f.memory + 99, 1, 1, f.streams[0]), 0); /* but the other stream may still read it */
  assert_int_equal(new_violations(), 1);
  for (int i = 0; i < 2; ++i) assert_int_equal(fake.stream_synchronize(f.streams[i]), 0);
  assert_int_equal(fake.free(other), 0);
  assert_int_equal(new_violations(), 1);
}

static void test_missing_waits_are_races(void** state) {
  (void)state;
  assert_int_equal(fake.fill(f.memory, 1, 100, f.streams[0]), 0);
  assert_int_equal(fake.event_record(f.event, f.streams[0]), 0);
  assert_int_equal(fake.fill(f.memory + 100, 1, 100, f.streams[1]), 0); /* the bytes beside it */
  assert_int_equal(new_violations(), 0);
  assert_int_equal(fake.fill(f.memory + 200, 1, 100, f.streams[0]), 0); /* after the mark */
  assert_int_equal(fake.stream_wait(f.streams[1], f.event, 0), 0);
  assert_int_equal(fake.fill(f.memory, 2, 200, f.streams[1]), 0);
  assert_int_equal(new_violations(), 0);
  assert_int_equal(fake.fill(f.memory + 299, 2, 1, f.streams[1]), 0);
  assert_int_equal(new_violations(), 1);
}

static void test_free_while_in_use(void** state) {
  (void)state;
  assert_int_equal(fake.fill(f.memory, 1, BYTES, f.streams[0]), 0);
  assert_int_equal(fake.free(f.memory), 0);
  assert_int_equal(new_violations(), 1);
  assert_int_equal(fake.fill(f.memory, 1, BYTES, f.streams[0]), INVALID_VALUE); /* it is gone */
  f.memory = 0;
}

static int nested_result;
static void call_driver(void* unused) {
  (void)unused;
  nested_result = fake.event_synchronize(f.event);
}

static void test_host_functions_call_no_driver(void** state) {
  (void)state;
  assert_int_equal(fake.host_function(f.streams[0], call_driver, NULL), 0);
  assert_int_equal(fake.stream_synchronize(f.streams[0]), 0);
  assert_int_equal(nested_result, 800);
  assert_int_equal(new_violations(), 1);
}

static void test_calls_fail_on_command(void** state) {
  (void)state;
  uint64_t memory = 0;
  fake.fail_call(2, OUT_OF_MEMORY);
  assert_int_equal(fake.fill(f.memory, 1, 1, f.streams[0]), 0);
  assert_int_equal(fake.allocate(&memory, 100), OUT_OF_MEMORY);
  assert_string_equal(fake.failed_call(), "cuMemAlloc_v2");
  assert_int_equal(fake.allocate(&memory, 100), 0);
  fake.fail_call(1, OUT_OF_MEMORY);
  assert_int_equal(fake.free(memory), OUT_OF_MEMORY); /* it is freed all the same */
  assert_int_equal(fake.free(memory), INVALID_VALUE);
  assert_int_equal(new_violations(), 1);
}

enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };
enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_UNJOINED = 904, CAPTURE_ISOLATION = 905 };
enum { CAPTURED_EVENT = 907, CAPTURE_ACTIVE = 1, CAPTURE_SPOILED = 2 };

static void begin_capture(int mode) { assert_int_equal(fake.capture_begin(f.streams[0], mode), 0); }

static void check_status(int expected) {
  int status = -1;
  assert_int_equal(fake.capture_status(f.streams[0], &status), 0);
  assert_int_equal(status, expected);
}

static void end_capture(int expected) {
  void* graph = NULL;
  assert_int_equal(fake.capture_end(f.streams[0], &graph), expected);
  if (graph) fake.graph_destroy(graph);
  check_status(0);
}

static void test_captured_work_waits_for_a_launch(void** state) {
  (void)state;
  unsigned char back[BYTES];
  void* graph = NULL;
  assert_int_equal(fake.fill(f.memory, 1, BYTES, f.streams[0]), 0);
  begin_capture(CAPTURE_GLOBAL);
  assert_int_equal(fake.fill(f.memory, 2, BYTES, f.streams[0]), 0);
  assert_int_equal(fake.event_record(f.event, f.streams[0]), 0);
  assert_int_equal(fake.stream_wait(f.streams[1], f.event, 0), 0); /* which joins */
  assert_int_equal(fake.fill(f.memory, 3, 10, f.streams[1]), 0);
  assert_int_equal(fake.event_record(f.event, f.streams[1]), 0);
  assert_int_equal(fake.stream_wait(f.streams[0], f.event, 0), 0);
  check_status(CAPTURE_ACTIVE);
  assert_int_equal(fake.capture_end(f.streams[0], &graph), 0);
  assert_int_equal(fake.download(back, f.memory, BYTES, f.streams[0]), 0);
  assert_int_equal(back[0], 1);
  for (int i = 0; i < 2; ++i) assert_int_equal(fake.graph_launch(graph, f.streams[0]), 0);
  assert_int_equal(fake.download(back, f.memory, BYTES, f.streams[0]), 0);
  assert_int_equal(back[0], 3);
  assert_int_equal(back[BYTES - 1], 2);
  assert_int_equal(fake.graph_destroy(graph), 0);
  assert_int_equal(new_violations(), 0);
}

static int unsafe_mode;
static int unsafe_result;
static void* call_unsafely(void* unused) {
  fake.set_current(f.context);
  fake.capture_mode(&unsafe_mode);
  unsafe_result = fake.event_query(f.event);
  return unused;
}

/* An unsafe call of another thread; returns whether the capture outlives it. */
static int outlives(int mode, int thread_mode) {
  begin_capture(mode);
  pthread_t thread;
  unsafe_mode = thread_mode;
  assert_int_equal(pthread_create(&thread, NULL, call_unsafely, NULL), 0);
  pthread_join(thread, NULL);
  assert_true(unsafe_result == 0 || unsafe_result == CAPTURE_UNSUPPORTED);
  check_status(unsafe_result == 0 ? CAPTURE_ACTIVE : CAPTURE_SPOILED);
  end_capture(unsafe_result == 0 ? 0 : CAPTURE_INVALIDATED);
  return unsafe_result == 0;
}

static void test_unsafe_calls_spoil_captures(void** state) {
  (void)state;
  assert_false(outlives(CAPTURE_GLOBAL, CAPTURE_GLOBAL));
  assert_true(outlives(CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL));
  assert_true(outlives(CAPTURE_GLOBAL, CAPTURE_RELAXED));
  assert_true(outlives(CAPTURE_THREAD_LOCAL, CAPTURE_GLOBAL));
  uint64_t memory = 0;
  begin_capture(CAPTURE_THREAD_LOCAL);
  assert_int_equal(fake.allocate(&memory, 100), CAPTURE_UNSUPPORTED);
  assert_int_equal(fake.fill(f.memory, 1, 1, f.streams[0]), CAPTURE_INVALIDATED);
  end_capture(CAPTURE_INVALIDATED);
  begin_capture(CAPTURE_RELAXED);
  assert_int_equal(fake.allocate(&memory, 100), 0);
  assert_int_equal(fake.free(memory), 0);
  end_capture(0);
}

static void test_captures_stand_alone(void** state) {
  (void)state;
  assert_int_equal(fake.event_record(f.event, f.streams[1]), 0);
  begin_capture(CAPTURE_RELAXED);
  assert_int_equal(fake.stream_wait(f.streams[0], f.event, 0), CAPTURE_ISOLATION); /* work outside of it */
  end_capture(CAPTURE_INVALIDATED);
  begin_capture(CAPTURE_RELAXED);
  assert_int_equal(fake.stream_synchronize(f.streams[0]), CAPTURE_UNSUPPORTED);
  end_capture(CAPTURE_INVALIDATED);
  begin_capture(CAPTURE_RELAXED);
  assert_int_equal(fake.event_record(f.event, f.streams[0]), 0);
  assert_int_equal(fake.event_query(f.event), CAPTURED_EVENT);
  end_capture(CAPTURE_INVALIDATED);
  assert_int_equal(fake.event_synchronize(f.event), CAPTURED_EVENT); /* until it is recorded again */
  begin_capture(CAPTURE_RELAXED);
  assert_int_equal(fake.event_record(f.event, f.streams[0]), 0);
  assert_int_equal(fake.stream_wait(f.streams[1], f.event, 0), 0);
  end_capture(CAPTURE_UNJOINED);
  assert_int_equal(new_violations(), 0);
}

/* The host ends with a signal when it touches the memory of a device. */
static void test_memory_faults(void** state) {
  (void)state;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    const unsigned char value = *(volatile unsigned char*)(uintptr_t)f.memory;
    _exit(value == 0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGSEGV);
}

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void** functions = (void**)&fake;
  for (size_t i = 0; i < COUNT_OF(names); ++i) functions[i] = library ? dlsym(library, names[i]) : NULL;
  for (size_t i = 0; i < COUNT_OF(names); ++i)
    if (!functions[i]) {
      printf("%s is missing\n", names[i]);
      return 1;
    }
  if (fake.init(0) != 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_ordered_work_is_no_race, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_reads_side_by_side_are_no_race, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_missing_waits_are_races, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_free_while_in_use, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_host_functions_call_no_driver, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_calls_fail_on_command, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_captured_work_waits_for_a_launch, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_unsafe_calls_spoil_captures, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_captures_stand_alone, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_memory_faults, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
