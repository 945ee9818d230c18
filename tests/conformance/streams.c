/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, host functions, several devices and threads. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance.h"
#include "fake_driver.h"

static uint64_t free_memory(const MaxDevice* device) {
  uint64_t free_bytes = 0, total = 0;
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  return free_bytes;
}

/* What is taken on one device is not taken on the other. Real ones may be in use by others too. */
static void check_own_memory(MaxDevice* first, MaxDevice* second) {
  struct fake_driver driver;
  if (!find_fake_driver(device_api, &driver)) return;
  const uint64_t before[2] = {free_memory(first), free_memory(second)};
  MaxBuffer* buffer = new_buffer(second, MAX_DTYPE_UINT8, 1, (const int64_t[]){32 << 20});
  assert_true(free_memory(first) == before[0]);
  assert_true(free_memory(second) == before[1] - (32 << 20));
  maxBufferRelease(buffer);
}

void test_two_devices(void** state) {
  (void)state;
  MaxDevice* second = open_second_device();
  if (!second) return;
  MaxDevice* first = open_device();
  MaxStream* streams[2] = {new_stream(first), new_stream(second)};
  int32_t values[3000];
  for (int32_t i = 0; i < 3000; ++i) values[i] = i * 3;
  const int64_t shape[] = {3000};
  MaxBuffer* here = upload(first, MAX_DTYPE_INT32, 1, shape, values);
  MaxBuffer* there = clone_on(here, second, streams[1]);
  CHECK(maxStreamSynchronize(streams[1], 0));
  check_content(there, values, sizeof values);
  check_own_memory(first, second);
  /* a chain over both devices: fill there, wait, copy a part here, wait, copy it back */
  MaxEvent* filled = NULL;
  CHECK(maxEventCreate(second, NULL, &filled));
  const int32_t filling = 5;
  CHECK(maxBufferFill(there, &filling, sizeof filling, streams[1]));
  CHECK(maxStreamRecordEvent(streams[1], filled));
  CHECK(maxStreamWaitForEvent(streams[0], filled));
  CHECK(maxBufferCopy(here, 400, there, 0, 8000, streams[0]));
  CHECK(maxStreamWaitForStream(streams[1], streams[0]));
  CHECK(maxBufferCopy(there, 4, here, 0, 600, streams[1]));
  CHECK(maxStreamSynchronize(streams[1], 0));
  for (int32_t i = 100; i < 2100; ++i) values[i] = filling;
  check_content(here, values, sizeof values);
  int32_t expected[3000];
  for (int32_t i = 0; i < 3000; ++i) expected[i] = filling;
  memcpy(expected + 1, values, 600);
  check_content(there, expected, sizeof expected);
  CHECK_FAILS(maxStreamRecordEvent(streams[0], filled), MAX_STATUS_INVALID_ARGUMENT, ":1");
  maxEventRelease(filled);
  maxBufferRelease(here);
  maxBufferRelease(there);
  maxStreamRelease(streams[0]);
  maxStreamRelease(streams[1]);
  maxDeviceRelease(second);
  maxDeviceRelease(first);
}

/* There and back on streams of the first device. A fake counts the copies that go this way, and sees no other. */
static void check_peer_copy(MaxDevice* first, MaxDevice* second, int32_t way) {
  struct fake_driver driver;
  const bool is_fake = find_fake_driver(device_api, &driver) != 0;
  const int32_t other_way = FAKE_GPU_DIRECT_PEER_COPIES + FAKE_GPU_STAGED_PEER_COPIES - way;
  const int64_t before = is_fake ? driver.count(way) : 0, other_before = is_fake ? driver.count(other_way) : 0;
  int32_t values[1000], none[1000] = {0};
  for (int32_t i = 0; i < 1000; ++i) values[i] = i * 5 + way;
  MaxStream* stream = new_stream(first);
  MaxBuffer* there = upload(second, MAX_DTYPE_INT32, 1, (const int64_t[]){1000}, none);
  MaxBuffer* here = upload(first, MAX_DTYPE_INT32, 1, (const int64_t[]){1000}, values);
  CHECK(maxBufferCopy(there, 0, here, 0, sizeof values, stream));
  CHECK(maxBufferFill(here, none, 4, stream));
  CHECK(maxBufferCopy(here, 0, there, 0, sizeof values, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  check_content(here, values, sizeof values);
  check_content(there, values, sizeof values);
  if (is_fake) {
    assert_int_equal(driver.count(way), before + 2);
    assert_int_equal(driver.count(other_way), other_before);
  }
  maxBufferRelease(there);
  maxBufferRelease(here);
  maxStreamRelease(stream);
}

void test_peer_access(void** state) {
  (void)state;
  MaxDevice* first = open_device();
  MaxDevice* second = open_second_device();
  if (second) {
    int32_t forth = -1;
    int32_t back = -1;
    CHECK(maxDeviceCanAccess(first, second, &forth));
    CHECK(maxDeviceCanAccess(second, first, &back));
    assert_int_equal(forth, back);
    if (getenv("FAKE_GPU_PEER")) assert_int_equal(forth, atoi(getenv("FAKE_GPU_PEER")));
    if (forth) {
      check_peer_copy(first, second, FAKE_GPU_STAGED_PEER_COPIES);
      CHECK(maxDeviceEnablePeerAccess(first, second));
      CHECK(maxDeviceEnablePeerAccess(first, second)); /* again: nothing happens */
      check_peer_copy(first, second, FAKE_GPU_DIRECT_PEER_COPIES);
    } else {
      CHECK_FAILS(maxDeviceEnablePeerAccess(first, second), MAX_STATUS_UNIMPLEMENTED, "");
    }
    maxDeviceRelease(second);
  }
  CHECK(maxDeviceEnablePeerAccess(first, first));
  maxDeviceRelease(first);
}

struct calls {
  int count;
  int order[8];
  MaxBuffer* buffer;
  MaxStatus nested;
};

static void note_first(void* user_data, MaxStatus status) {
  struct calls* calls = user_data;
  calls->order[calls->count++] = status == MAX_STATUS_OK ? 1 : -1;
}

/* Host functions may call the library. */
static void release_in_order(void* user_data, MaxStatus status) {
  struct calls* calls = user_data;
  calls->order[calls->count++] = status == MAX_STATUS_OK ? 2 : -2;
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  calls->nested = maxBufferGetInfo(calls->buffer, &info);
  maxBufferRelease(calls->buffer);
}

void test_host_functions(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  struct calls calls = {.buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000})};
  const unsigned char one = 1;
  CHECK(maxStreamEnqueueHostFunction(stream, note_first, &calls));
  CHECK(maxBufferFill(calls.buffer, &one, 1, stream));
  CHECK(maxStreamEnqueueHostFunction(stream, release_in_order, &calls));
  CHECK(maxStreamEnqueueHostFunction(stream, note_first, &calls));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(calls.count, 3);
  assert_int_equal(calls.order[0], 1);
  assert_int_equal(calls.order[1], 2);
  assert_int_equal(calls.order[2], 1);
  assert_int_equal(calls.nested, MAX_STATUS_OK);
  CHECK_FAILS(maxStreamEnqueueHostFunction(stream, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "function");
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

/* Host memory that a host function fills when the gate opens. */
struct late_memory {
  sem_t gate;
  unsigned char* bytes;
  size_t size;
};

static void fill_late(void* user_data, MaxStatus status) {
  struct late_memory* late = user_data;
  (void)status;
  sem_wait(&late->gate);
  memset(late->bytes, 7, late->size);
}

/* A copy to a device begins after the host's work, directly before it on the stream, or on a stream that it waits for:
   a driver reads memory that is not page-locked at the call. More bytes than are staged at once. */
void test_copies_follow_host_work(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* streams[2] = {new_stream(device), new_stream(device)};
  struct late_memory late = {.size = (9 << 20) + 5};
  late.bytes = calloc(late.size, 1);
  unsigned char* expected = malloc(late.size);
  assert_true(late.bytes && expected);
  memset(expected, 7, late.size);
  sem_init(&late.gate, 0, 0);
  for (int round = 0; round < 3; ++round) {
    memset(late.bytes, 0, late.size);
    MaxBuffer* target = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){(int64_t)late.size});
    MaxStream* last = streams[round == 0 ? 0 : 1];
    CHECK(maxStreamWaitForDevice(streams[0], device));
    CHECK(maxStreamEnqueueHostFunction(streams[0], fill_late, &late));
    if (round > 0) order_after(streams[1], streams[0], round == 2);
    CHECK(maxMemoryCopy(address_of(target), late.bytes, late.size, MAX_COPY_KIND_HOST_TO_DEVICE, last));
    sem_post(&late.gate);
    CHECK(maxStreamSynchronize(last, 0));
    check_content(target, expected, late.size);
    maxBufferRelease(target);
  }
  sem_destroy(&late.gate);
  free(expected);
  free(late.bytes);
  maxStreamRelease(streams[0]);
  maxStreamRelease(streams[1]);
  maxDeviceRelease(device);
}

/* The same for buffers of the host, whose work is that of a stream of the host. */
void test_copies_follow_streams_of_the_host(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream *here = NULL, *there = new_stream(device);
  CHECK(maxStreamCreate(NULL, NULL, &here));
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = here;
  MaxBuffer *source = NULL, *target = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000});
  CHECK(maxBufferCreate(NULL, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000}, &options, &source));
  unsigned char expected[1000], before[1000] = {0};
  memset(expected, 9, sizeof expected);
  struct late_memory late = {.bytes = before, .size = sizeof before};
  const unsigned char nine = 9;
  sem_init(&late.gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(here, fill_late, &late));
  CHECK(maxBufferFill(source, &nine, sizeof nine, NULL));
  CHECK(maxBufferCopy(target, 0, source, 0, sizeof expected, there));
  sem_post(&late.gate);
  CHECK(maxStreamSynchronize(there, 0));
  check_content(target, expected, sizeof expected);
  sem_destroy(&late.gate);
  maxBufferRelease(target);
  maxBufferRelease(source);
  maxStreamRelease(here);
  maxStreamRelease(there);
  maxDeviceRelease(device);
}

void test_waits_have_a_limit(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxEvent* event = NULL;
  CHECK(maxEventCreate(device, NULL, &event));
  sem_t gate;
  assert_int_equal(sem_init(&gate, 0, 0), 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxStreamRecordEvent(stream, event));
  CHECK_FAILS(maxStreamSynchronize(stream, 1000000), MAX_STATUS_DEADLINE_EXCEEDED, "1000000 ns");
  CHECK_FAILS(maxEventSynchronize(event, 1000000), MAX_STATUS_DEADLINE_EXCEEDED, "1000000 ns");
  CHECK_FAILS(maxDeviceSynchronize(device, 1000000), MAX_STATUS_DEADLINE_EXCEEDED, "1000000 ns");
  sem_post(&gate);
  const int64_t long_time = 100000000000;
  CHECK(maxEventSynchronize(event, long_time));
  CHECK(maxStreamSynchronize(stream, long_time));
  CHECK(maxDeviceSynchronize(device, long_time));
  sem_destroy(&gate);
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static int64_t nanoseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

/* A mark is passed after the work before it and not sooner, for the host, for a stream that waits, and by its time. */
static void check_marks_wait(MaxDevice* device, MaxStream* stream, MaxEvent* start, MaxEvent* end) {
  enum { PAUSE = 5000000 };
  MaxStream* other = new_stream(device);
  struct calls calls = {.count = 0};
  int32_t ready = -1;
  int64_t elapsed = -1;
  sem_t gate;
  sem_init(&gate, 0, 0);
  const int64_t began = nanoseconds_now();
  CHECK(maxStreamRecordEvent(stream, start));
  CHECK(maxStreamRecordEvent(stream, end)); /* passed at once, but the newest mark counts */
  CHECK(maxEventSynchronize(end, 0));
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxStreamRecordEvent(stream, end));
  CHECK(maxStreamWaitForEvent(other, end));
  CHECK(maxStreamEnqueueHostFunction(other, note_first, &calls));
  nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
  CHECK(maxEventQuery(end, &ready));
  assert_int_equal(ready, 0);
  CHECK_FAILS(maxEventSynchronize(end, 1000000), MAX_STATUS_DEADLINE_EXCEEDED, "1000000");
  CHECK_FAILS(maxEventGetElapsedTime(start, end, &elapsed), MAX_STATUS_FAILED_PRECONDITION, "done");
  assert_int_equal(calls.count, 0);
  sem_post(&gate);
  CHECK(maxEventSynchronize(end, 0));
  CHECK(maxEventQuery(end, &ready));
  assert_int_equal(ready, 1);
  CHECK(maxStreamSynchronize(other, 0));
  assert_int_equal(calls.count, 1);
  CHECK(maxEventGetElapsedTime(start, end, &elapsed));
  assert_in_range(elapsed, PAUSE, nanoseconds_now() - began + 1000000); /* drivers tell half microseconds */
  sem_destroy(&gate);
  maxStreamRelease(other);
}

void test_events(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxEvent* plain = NULL;
  MaxEvent* start = NULL;
  MaxEvent* end = NULL;
  MaxEventOptions timed = MAX_EVENT_OPTIONS_INIT;
  timed.timing = 1;
  CHECK(maxEventCreate(device, NULL, &plain));
  CHECK(maxEventCreate(device, &timed, &start));
  CHECK(maxEventCreate(device, &timed, &end));
  int32_t ready = 0;
  int64_t elapsed = 0;
  CHECK(maxEventQuery(plain, &ready)); /* never recorded: done */
  assert_int_equal(ready, 1);
  CHECK(maxEventSynchronize(plain, 0));
  CHECK(maxStreamWaitForEvent(stream, plain));
  CHECK_FAILS(maxEventGetElapsedTime(start, end, &elapsed), MAX_STATUS_FAILED_PRECONDITION, "record");
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){100000});
  const unsigned char one = 1;
  CHECK(maxStreamRecordEvent(stream, start));
  CHECK(maxBufferFill(buffer, &one, 1, stream));
  CHECK(maxStreamRecordEvent(stream, plain));
  CHECK(maxStreamRecordEvent(stream, end));
  CHECK(maxStreamRecordEvent(stream, end)); /* the newest mark counts */
  CHECK(maxEventSynchronize(end, 0));
  CHECK(maxEventGetElapsedTime(start, end, &elapsed));
  assert_true(elapsed >= 0 && elapsed < (int64_t)60 * 1000 * 1000 * 1000);
  CHECK_FAILS(maxEventGetElapsedTime(start, plain, &elapsed), MAX_STATUS_FAILED_PRECONDITION, "timing");
  check_marks_wait(device, stream, start, end);
  CHECK(maxStreamRecordEvent(stream, plain));
  maxEventRelease(plain); /* while it may still be on its way */
  CHECK(maxStreamSynchronize(stream, 0));
  maxBufferRelease(buffer);
  maxEventRelease(start);
  maxEventRelease(end);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* HIP keeps the last error of a thread for the next query; the program must not see ours. */
void test_errors_are_not_left_behind(void** state) {
  (void)state;
  const char* path = getenv("MAX_HIP_LIBRARY");
  void* library = dlopen(path ? path : "libamdhip64.so", RTLD_NOW | RTLD_NOLOAD);
  if (strcmp(device_api, "hip") != 0 || !library) return;
  int (*last_error)(void) = NULL;
  void* symbol = dlsym(library, "hipGetLastError");
  assert_non_null(symbol);
  memcpy(&last_error, &symbol, sizeof symbol);
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxEvent* event = NULL;
  MaxBuffer* huge = NULL;
  int32_t ready = 1;
  int64_t value = 0;
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  sem_t gate;
  sem_init(&gate, 0, 0);
  (void)last_error();
  CHECK(maxEventCreate(device, NULL, &event));
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxStreamRecordEvent(stream, event));
  CHECK(maxEventQuery(event, &ready));
  assert_int_equal(ready, 0);
  assert_int_equal(last_error(), 0);
  sem_post(&gate);
  CHECK(maxStreamSynchronize(stream, 0));
  CHECK_FAILS(maxDeviceGetAttribute(device, 9999, &value), MAX_STATUS_UNIMPLEMENTED, "9999");
  assert_int_equal(last_error(), 0);
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  const int64_t most = (int64_t)(free_bytes / 8 * 5);
  MaxBuffer* taken = new_buffer(device, MAX_DTYPE_UINT8, 1, &most);
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &most, NULL, &huge), MAX_STATUS_RESOURCE_EXHAUSTED, "");
  assert_int_equal(last_error(), 0);
  maxBufferRelease(taken);
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
  sem_destroy(&gate);
}

void test_priorities_and_native_streams(void** state) {
  (void)state;
  static const int32_t priorities[] = {-1000, -1, 0, 1, 1000}; /* hints: none is refused */
  MaxDevice* device = open_device();
  const unsigned char values[4] = {1, 2, 3, 4};
  MaxBuffer* buffer = upload(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){4}, values);
  for (size_t i = 0; i < COUNT_OF(priorities); ++i) {
    MaxStreamOptions options = MAX_STREAM_OPTIONS_INIT;
    options.priority = priorities[i];
    MaxStream* stream = NULL;
    CHECK(maxStreamCreate(device, &options, &stream));
    CHECK(maxBufferFill(buffer, values + 1, 1, stream));
    CHECK(maxStreamSynchronize(stream, 0));
    maxStreamRelease(stream);
  }
  MaxStream* owner = new_stream(device);
  MaxStream* wrapped = NULL;
  void* native = NULL;
  int32_t is_host = 0;
  CHECK(maxDeviceIsHost(device, &is_host));
  if (is_host) {
    CHECK_FAILS(maxStreamGetNative(owner, &native), MAX_STATUS_UNIMPLEMENTED, "");
    CHECK_FAILS(maxStreamWrap(device, device, &wrapped), MAX_STATUS_UNIMPLEMENTED, "");
  } else {
    void* again = NULL;
    CHECK(maxStreamGetNative(owner, &native));
    CHECK(maxStreamWrap(device, native, &wrapped));
    CHECK(maxStreamGetNative(wrapped, &again));
    assert_ptr_equal(native, again);
    CHECK(maxBufferFill(buffer, values + 2, 1, wrapped));
    CHECK(maxStreamSynchronize(owner, 0)); /* it is the same stream */
    check_content(buffer, "\3\3\3\3", 4);
    maxStreamRelease(wrapped);
    CHECK_FAILS(maxStreamWrap(device, (void*)2, &wrapped), MAX_STATUS_INVALID_ARGUMENT, "per-thread");
    CHECK(maxBufferFill(buffer, values + 3, 1, owner)); /* and not ours to destroy */
    CHECK(maxStreamSynchronize(owner, 0));
  }
  maxStreamRelease(owner);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/* Everything is released at once, in any order, while work is queued; its result is in the one buffer that is kept. */
void test_work_outlives_its_handles(void** state) {
  (void)state;
  const uint32_t pattern = 0x01020304;
  const int64_t shape[] = {50000};
  for (int order = 0; order < 2; ++order) {
    MaxDevice* device = open_device();
    MaxStream* streams[2] = {new_stream(device), new_stream(device)};
    MaxBuffer* source = new_buffer(device, MAX_DTYPE_UINT32, 1, shape);
    CHECK(maxStreamWaitForDevice(streams[0], device));
    CHECK(maxBufferFill(source, &pattern, sizeof pattern, streams[0]));
    CHECK(maxStreamWaitForStream(streams[1], streams[0]));
    MaxBuffer* result = clone_on(source, NULL, streams[1]);
    MaxBuffer* unused = clone_on(source, NULL, streams[0]);
    if (order == 0) maxDeviceRelease(device);
    maxBufferRelease(unused);
    maxBufferRelease(source);
    maxStreamRelease(streams[0]);
    CHECK(maxStreamSynchronize(streams[1], 0));
    maxStreamRelease(streams[1]);
    uint32_t got[50000];
    download(result, got, sizeof got);
    for (size_t i = 0; i < COUNT_OF(got); ++i) assert_int_equal(got[i], pattern);
    maxBufferRelease(result);
    if (order == 1) maxDeviceRelease(device);
  }
}

enum { THREADS = 4, ROUNDS = 30, WORDS = 2000 };

struct worker {
  pthread_t thread;
  MaxDevice* device;
  MaxStream* shared;
  uint32_t id;
  const char* problem;
};

#define EXPECT(call)               \
  do {                             \
    if ((call) != MAX_STATUS_OK) { \
      worker->problem = #call;     \
      return;                      \
    }                              \
  } while (0)

/* On the thread's own stream, but for the last copy, which goes through the one that all share. */
static void run_round(struct worker* worker, MaxStream* stream, uint32_t round) {
  static const int64_t shape[] = {WORDS};
  uint32_t values[WORDS];
  uint32_t back[WORDS];
  for (uint32_t i = 0; i < WORDS; ++i) values[i] = worker->id * 1000000u + round * 10000u + i;
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* buffer = NULL;
  EXPECT(maxBufferCreate(worker->device, MAX_DTYPE_UINT32, 1, shape, &options, &buffer));
  EXPECT(maxMemoryCopy(address_of(buffer), values, sizeof values, MAX_COPY_KIND_HOST_TO_DEVICE, stream));
  MaxBuffer* copy = clone_on(buffer, NULL, stream);
  maxBufferRelease(buffer);
  EXPECT(maxStreamWaitForStream(worker->shared, stream));
  MaxBuffer* last = clone_on(copy, NULL, worker->shared);
  EXPECT(maxStreamWaitForStream(stream, worker->shared));
  EXPECT(maxMemoryCopy(back, address_of(last), sizeof back, MAX_COPY_KIND_DEVICE_TO_HOST, stream));
  EXPECT(maxStreamSynchronize(stream, 0));
  if (memcmp(back, values, sizeof back) != 0) worker->problem = "wrong values";
  maxBufferRelease(copy);
  maxBufferRelease(last);
}

static void* run_worker(void* argument) {
  struct worker* worker = argument;
  for (uint32_t round = 0; round < ROUNDS && !worker->problem; ++round) {
    MaxStream* stream = NULL;
    if (maxStreamCreate(worker->device, NULL, &stream) != MAX_STATUS_OK) {
      worker->problem = "maxStreamCreate";
      break;
    }
    run_round(worker, stream, round);
    maxStreamRelease(stream);
  }
  return NULL;
}

void test_threads(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* shared = new_stream(device);
  struct worker workers[THREADS];
  memset(workers, 0, sizeof workers);
  for (uint32_t i = 0; i < THREADS; ++i) {
    workers[i].device = device;
    workers[i].shared = shared;
    workers[i].id = i;
    assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < THREADS; ++i)
    if (workers[i].problem) fail_msg("thread %d: %s", i, workers[i].problem);
  CHECK(maxStreamSynchronize(shared, 0));
  maxStreamRelease(shared);
  maxDeviceRelease(device);
}
