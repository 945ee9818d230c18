/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <time.h>

#include "check.h"

static MaxEvent* new_event(MaxDevice* device, int32_t timing) {
  MaxEventOptions options = MAX_EVENT_OPTIONS_INIT;
  options.timing = timing;
  MaxEvent* event = NULL;
  CHECK(maxEventCreate(device, &options, &event));
  assert_non_null(event);
  return event;
}

static MaxStream* new_stream(MaxDevice* device) {
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  return stream;
}

static int32_t is_ready(const MaxEvent* event) {
  int32_t ready = -1;
  CHECK(maxEventQuery(event, &ready));
  return ready;
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

static void sleep_20_ms(void* user_data, MaxStatus status) {
  (void)user_data;
  (void)status;
  const struct timespec time = {0, 20000000};
  nanosleep(&time, NULL);
}

static void test_never_recorded_is_done(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxEvent* event = new_event(device, 0);
  assert_int_equal(is_ready(event), 1);
  CHECK(maxEventSynchronize(event, 0));
  MaxStream* stream = new_stream(device);
  CHECK(maxStreamWaitForEvent(stream, event));
  CHECK(maxStreamSynchronize(stream, 0));
  MaxDevice* owner = NULL;
  CHECK(maxEventGetDevice(event, &owner));
  assert_ptr_equal(owner, device);
  maxDeviceRelease(device); /* the event keeps it */
  maxEventRetain(event);
  maxEventRelease(event);
  maxEventRelease(event);
  maxStreamRelease(stream);
}

static void test_done_with_the_work_before_it(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxEvent* event = new_event(device, 0);
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamRecordEvent(stream, event));
  CHECK(maxEventSynchronize(event, 0));
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  assert_int_equal(is_ready(event), 1); /* work after the mark does not count */
  CHECK(maxStreamRecordEvent(stream, event));
  assert_int_equal(is_ready(event), 0); /* the newest mark counts */
  sem_post(&gate);
  CHECK(maxEventSynchronize(event, 0));
  assert_int_equal(is_ready(event), 1);
  CHECK(maxStreamSynchronize(stream, 0));
  maxStreamRelease(stream);
  maxEventRelease(event);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

static void test_event_can_be_released_while_it_is_queued(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* first = new_stream(device);
  MaxStream* second = new_stream(device);
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(first, wait_at_gate, &gate));
  MaxEvent* event = new_event(device, 0);
  CHECK(maxStreamRecordEvent(first, event));
  CHECK(maxStreamWaitForEvent(second, event));
  MaxEvent* after = new_event(device, 0);
  CHECK(maxStreamRecordEvent(second, after));
  maxEventRelease(event);
  assert_int_equal(is_ready(after), 0);
  sem_post(&gate);
  CHECK(maxEventSynchronize(after, 0));
  CHECK(maxDeviceSynchronize(device, 0));
  maxEventRelease(after);
  maxStreamRelease(first);
  maxStreamRelease(second);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

static void test_default_stream(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* main_stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &main_stream));
  MaxStream* stream = new_stream(device);
  MaxEvent* event = new_event(device, 0);
  CHECK(maxStreamRecordEvent(main_stream, event));
  assert_int_equal(is_ready(event), 1);
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_20_ms, NULL));
  CHECK(maxStreamRecordEvent(stream, event));
  CHECK(maxStreamWaitForEvent(main_stream, event)); /* waits in the call */
  assert_int_equal(is_ready(event), 1);
  CHECK(maxStreamSynchronize(stream, 0));
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void test_elapsed_time(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxEvent* start = new_event(device, 1);
  MaxEvent* end = new_event(device, 1);
  CHECK(maxStreamRecordEvent(stream, start));
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_20_ms, NULL));
  CHECK(maxStreamRecordEvent(stream, end));
  CHECK(maxEventSynchronize(end, 0));
  int64_t elapsed = 0;
  CHECK(maxEventGetElapsedTime(start, end, &elapsed));
  assert_true(elapsed >= 20000000 && elapsed < 10000000000);
  int64_t back = 0;
  CHECK(maxEventGetElapsedTime(end, start, &back));
  assert_int_equal(back, -elapsed);
  CHECK(maxStreamSynchronize(stream, 0));
  maxEventRelease(start);
  maxEventRelease(end);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void test_elapsed_time_refuses(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxEvent* start = new_event(device, 1);
  MaxEvent* end = new_event(device, 1);
  MaxEvent* untimed = new_event(device, 0);
  int64_t elapsed = 0;
  CHECK_FAILS(maxEventGetElapsedTime(start, end, &elapsed), MAX_STATUS_FAILED_PRECONDITION,
              "start event was never recorded");
  CHECK(maxStreamRecordEvent(stream, start));
  CHECK(maxStreamSynchronize(stream, 0));
  CHECK_FAILS(maxEventGetElapsedTime(start, end, &elapsed), MAX_STATUS_FAILED_PRECONDITION,
              "end event was never recorded");
  CHECK_FAILS(maxEventGetElapsedTime(start, untimed, &elapsed), MAX_STATUS_FAILED_PRECONDITION,
              "end event was created without timing");
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxStreamRecordEvent(stream, end));
  CHECK_FAILS(maxEventGetElapsedTime(start, end, &elapsed), MAX_STATUS_FAILED_PRECONDITION, "not done");
  sem_post(&gate);
  CHECK(maxStreamSynchronize(stream, 0));
  CHECK_FAILS(maxEventGetElapsedTime(NULL, end, &elapsed), MAX_STATUS_INVALID_ARGUMENT, "'start'");
  CHECK_FAILS(maxEventGetElapsedTime(start, NULL, &elapsed), MAX_STATUS_INVALID_ARGUMENT, "'end'");
  CHECK_FAILS(maxEventGetElapsedTime(start, end, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outNanoseconds'");
  maxEventRelease(start);
  maxEventRelease(end);
  maxEventRelease(untimed);
  maxStreamRelease(stream);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

static void test_null_arguments(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxEvent* event = new_event(device, 0);
  MaxEvent* out = NULL;
  MaxDevice* owner = NULL;
  int32_t ready = 0;
  const MaxStatus statuses[] = {
      maxEventCreate(device, NULL, NULL), maxEventGetDevice(NULL, &owner),    maxEventGetDevice(event, NULL),
      maxEventSynchronize(NULL, 0),       maxEventQuery(NULL, &ready),        maxEventQuery(event, NULL),
      maxStreamRecordEvent(NULL, event),  maxStreamWaitForEvent(NULL, event),
  };
  for (size_t i = 0; i < COUNT_OF(statuses); ++i) assert_int_equal(statuses[i], MAX_STATUS_INVALID_ARGUMENT);
  MaxEventOptions options = MAX_EVENT_OPTIONS_INIT;
  options.reserved = 1;
  CHECK_FAILS(maxEventCreate(device, &options, &out), MAX_STATUS_UNIMPLEMENTED, "reserved");
  assert_null(out);
  maxEventRetain(NULL);
  maxEventRelease(NULL);
  maxEventRelease(event);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_never_recorded_is_done),
      TEST(test_done_with_the_work_before_it),
      TEST(test_event_can_be_released_while_it_is_queued),
      TEST(test_default_stream),
      TEST(test_elapsed_time),
      TEST(test_elapsed_time_refuses),
      TEST(test_null_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
