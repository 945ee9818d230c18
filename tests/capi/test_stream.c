/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "check.h"

static MaxStream* new_stream(MaxDevice* device) {
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  assert_non_null(stream);
  return stream;
}

static int thread_count(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  assert_non_null(folder);
  for (const struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/* A gate that holds a stream until it is opened. */
static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

struct call {
  int order;
  MaxStatus status;
  pthread_t thread;
};

static atomic_int calls;

static void note_call(void* user_data, MaxStatus status) {
  struct call* call = user_data;
  call->order = ++calls;
  call->status = status;
  call->thread = pthread_self();
}

static void test_default_stream_runs_in_the_calling_thread(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &stream));
  int32_t is_default = 0;
  CHECK(maxStreamIsDefault(stream, &is_default));
  assert_int_equal(is_default, 1);
  calls = 0;
  struct call call = {0, -1, 0};
  CHECK(maxStreamEnqueueHostFunction(stream, note_call, &call));
  assert_int_equal(call.order, 1);
  assert_int_equal(call.status, MAX_STATUS_OK);
  assert_true(pthread_equal(call.thread, pthread_self()));
  maxDeviceRelease(device);
}

static void* do_nothing(void* user_data) { return user_data; }

/* The first thread of a process may bring another one along, as sanitizers' do. */
static void start_first_thread(void) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_created_stream_has_a_worker_only_while_it_is_needed(void** state) {
  (void)state;
  start_first_thread();
  MaxDevice* device = open_cpu();
  const int before = thread_count();
  MaxStream* stream = new_stream(device);
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(thread_count(), before);
  calls = 0;
  struct call call = {0, -1, 0};
  CHECK(maxStreamEnqueueHostFunction(stream, note_call, &call));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(thread_count(), before + 1);
  assert_int_equal(call.order, 1);
  assert_false(pthread_equal(call.thread, pthread_self()));
  maxStreamRelease(stream);
  for (int i = 0; i < 2000 && thread_count() > before; ++i) short_sleep();
  assert_int_equal(thread_count(), before);
  maxDeviceRelease(device);
}

static void test_properties(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxDevice* owner = NULL;
  CHECK(maxStreamGetDevice(stream, &owner));
  assert_ptr_equal(owner, device);
  int32_t is_default = 1;
  CHECK(maxStreamIsDefault(stream, &is_default));
  assert_int_equal(is_default, 0);
  void* native = &native;
  CHECK_FAILS(maxStreamGetNative(stream, &native), MAX_STATUS_UNIMPLEMENTED, "native");
  assert_null(native);
  MaxStream* wrapped = stream;
  CHECK_FAILS(maxStreamWrap(device, &native, &wrapped), MAX_STATUS_UNIMPLEMENTED, "cpu:0");
  assert_null(wrapped);
  MaxStreamOptions options = MAX_STREAM_OPTIONS_INIT;
  options.priority = -3;
  CHECK(maxStreamCreate(device, &options, &wrapped));
  maxStreamRelease(wrapped);
  options.reserved = 1;
  CHECK_FAILS(maxStreamCreate(device, &options, &wrapped), MAX_STATUS_UNIMPLEMENTED, "reserved");
  assert_null(wrapped);
  maxDeviceRelease(device); /* the stream keeps it */
  maxStreamRetain(stream);
  maxStreamRelease(stream);
  CHECK(maxStreamSynchronize(stream, 0));
  maxStreamRelease(stream);
}

static void test_work_runs_in_order(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  static struct call noted[1000];
  calls = 0;
  for (size_t i = 0; i < COUNT_OF(noted); ++i) CHECK(maxStreamEnqueueHostFunction(stream, note_call, &noted[i]));
  CHECK(maxStreamSynchronize(stream, 0));
  for (size_t i = 0; i < COUNT_OF(noted); ++i) assert_int_equal(noted[i].order, (int)i + 1);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void test_enqueued_copies_keep_their_buffers(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  MaxBuffer* source = new_counting(device, 1, (const int64_t[]){1000});
  MaxBuffer* middle = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){1000});
  MaxBuffer* target = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){1000});
  const int32_t seven = 7;
  CHECK(maxBufferFill(target, &seven, 4, NULL));
  CHECK(maxBufferCopy(middle, 0, source, 0, 4000, stream));
  CHECK(maxBufferCopy(target, 0, middle, 0, 2000, stream));
  const int32_t nine = 9;
  CHECK(maxBufferFill(middle, &nine, 4, stream));
  CHECK(maxBufferCopy(target, 2000, middle, 0, 1000, stream));
  maxBufferRelease(source);
  maxBufferRelease(middle);
  assert_int_equal(((int32_t*)data_of(target))[1], 7); /* nothing has run yet */
  sem_post(&gate);
  CHECK(maxStreamSynchronize(stream, 0));
  const int32_t* values = data_of(target);
  for (int i = 0; i < 500; ++i) assert_int_equal(values[i], i);
  for (int i = 500; i < 750; ++i) assert_int_equal(values[i], 9);
  for (int i = 750; i < 1000; ++i) assert_int_equal(values[i], 7);
  maxBufferRelease(target);
  sem_destroy(&gate);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void test_buffers_bound_to_a_stream(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  sem_t gate;
  sem_init(&gate, 0, 0);
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_INT32, 2, (const int64_t[]){2, 3}, &options, &buffer));
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  const int32_t value = 3;
  CHECK(maxBufferFill(buffer, &value, 4, NULL)); /* on the buffer's stream */
  MaxBuffer* column = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_ELLIPSIS, MAX_SLICE_KIND_INDEX},
                       (const int64_t[]){0, 1}, NULL, NULL, 2, &column));
  const int32_t other = 4;
  CHECK(maxBufferFill(column, &other, 4, NULL));
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(column, NULL, NULL, &copy));
  sem_post(&gate);
  int32_t read = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){1, 1}, 2, 4, &read)); /* waits */
  assert_int_equal(read, 4);
  CHECK(maxBufferRead(buffer, (const int64_t[]){1, 2}, 2, 4, &read));
  assert_int_equal(read, 3);
  CHECK(maxBufferRead(copy, (const int64_t[]){0}, 1, 4, &read));
  assert_int_equal(read, 4);
  CHECK(maxBufferWrite(copy, (const int64_t[]){0}, 1, &value, 4));
  void* data = NULL;
  CHECK(maxBufferMapToHost(copy, MAX_HOST_ACCESS_READ, &data));
  assert_int_equal(((int32_t*)data)[0], 3);
  CHECK(maxBufferUnmapFromHost(copy));
  maxStreamRelease(stream);
  maxBufferRelease(buffer);
  maxBufferRelease(column);
  maxBufferRelease(copy);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

static void test_waits_between_streams(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* first = new_stream(device);
  MaxStream* second = new_stream(device);
  MaxStream* main_stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &main_stream));
  sem_t gate;
  sem_init(&gate, 0, 0);
  calls = 0;
  struct call a = {0, 0, 0};
  struct call b = {0, 0, 0};
  CHECK(maxStreamEnqueueHostFunction(first, wait_at_gate, &gate));
  CHECK(maxStreamEnqueueHostFunction(first, note_call, &a));
  CHECK(maxStreamWaitForStream(second, first));
  CHECK(maxStreamEnqueueHostFunction(second, note_call, &b));
  /* A cycle of waits does not deadlock: each wait is for earlier work only. */
  CHECK(maxStreamWaitForStream(first, second));
  short_sleep();
  assert_int_equal(calls, 0);
  sem_post(&gate);
  CHECK(maxStreamWaitForStream(main_stream, second)); /* the default stream waits in the call */
  assert_int_equal(a.order, 1);
  assert_int_equal(b.order, 2);
  CHECK(maxStreamWaitForStream(first, first));
  CHECK(maxStreamWaitForDevice(first, device));
  CHECK(maxStreamWaitForDevice(main_stream, device));
  CHECK(maxDeviceSynchronize(device, 0));
  maxStreamRelease(first);
  maxStreamRelease(second);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

static void test_release_leaves_work_to_be_done(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  sem_t gate;
  sem_init(&gate, 0, 0);
  calls = 0;
  struct call call = {0, -1, 0};
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxStreamEnqueueHostFunction(stream, note_call, &call));
  maxStreamRelease(stream);
  assert_int_equal(calls, 0);
  sem_post(&gate);
  CHECK(maxDeviceSynchronize(device, 0)); /* waits for streams that have been released, too */
  assert_int_equal(call.order, 1);
  maxDeviceRelease(device);
  for (int i = 0; i < 2000 && live_objects() > 0; ++i) short_sleep();
  sem_destroy(&gate);
}

struct self_wait {
  MaxStream* stream;
  MaxDevice* device;
  MaxBuffer* buffer;
  MaxStatus statuses[5];
};

static void wait_for_self(void* user_data, MaxStatus status) {
  struct self_wait* wait = user_data;
  wait->statuses[0] = status;
  wait->statuses[1] = maxStreamSynchronize(wait->stream, 0);
  wait->statuses[2] = maxDeviceSynchronize(wait->device, 0);
  int32_t value = 7;
  wait->statuses[3] = maxBufferCopyFromHost(wait->buffer, 0, &value, 4, wait->stream);
  wait->statuses[4] = maxBufferCopyToHost(wait->buffer, 0, &value, 4, wait->stream);
}

static void test_a_host_function_cannot_wait_for_its_own_stream(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){1});
  struct self_wait wait = {stream, device, buffer, {-1, -1, -1, -1, -1}};
  CHECK(maxStreamEnqueueHostFunction(stream, wait_for_self, &wait));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(wait.statuses[0], MAX_STATUS_OK);
  for (size_t i = 1; i < COUNT_OF(wait.statuses); ++i)
    assert_int_equal(wait.statuses[i], MAX_STATUS_FAILED_PRECONDITION);
  assert_int_equal(*(int32_t*)data_of(buffer), 0); /* and nothing was queued with the caller's memory */
  maxBufferRelease(buffer);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* A wait that is given up leaves everything as it was. */
static void test_waits_have_a_limit(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxEvent* event = NULL;
  CHECK(maxEventCreate(device, NULL, &event));
  sem_t gate;
  assert_int_equal(sem_init(&gate, 0, 0), 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxStreamRecordEvent(stream, event));
  const int64_t short_time = 2000000;
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  CHECK_FAILS(maxStreamSynchronize(stream, short_time), MAX_STATUS_DEADLINE_EXCEEDED, "2000000 ns");
  CHECK_FAILS(maxEventSynchronize(event, short_time), MAX_STATUS_DEADLINE_EXCEEDED, "2000000 ns");
  CHECK_FAILS(maxDeviceSynchronize(device, short_time), MAX_STATUS_DEADLINE_EXCEEDED, "2000000 ns");
  clock_gettime(CLOCK_MONOTONIC, &end);
  const int64_t took = (end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec;
  assert_true(took >= 3 * short_time);
  assert_true(took < 2000000000);
  CHECK_FAILS(maxStreamSynchronize(stream, -1), MAX_STATUS_INVALID_ARGUMENT, "timeoutNs is -1");
  CHECK_FAILS(maxEventSynchronize(event, -1), MAX_STATUS_INVALID_ARGUMENT, "timeoutNs is -1");
  CHECK_FAILS(maxDeviceSynchronize(device, -1), MAX_STATUS_INVALID_ARGUMENT, "timeoutNs is -1");
  sem_post(&gate);
  CHECK(maxStreamSynchronize(stream, INT64_MAX));
  CHECK(maxEventSynchronize(event, INT64_MAX));
  CHECK(maxDeviceSynchronize(device, INT64_MAX));
  sem_destroy(&gate);
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

struct chain {
  MaxStream* stream;
  int left;
};

static void enqueue_again(void* user_data, MaxStatus status) {
  (void)status;
  struct chain* chain = user_data;
  ++calls;
  if (--chain->left > 0 && maxStreamEnqueueHostFunction(chain->stream, enqueue_again, chain) != MAX_STATUS_OK)
    chain->left = -1;
}

static void test_host_functions_may_enqueue(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  calls = 0;
  struct chain chain = {stream, 50};
  CHECK(maxStreamEnqueueHostFunction(stream, enqueue_again, &chain));
  while (calls < 50) short_sleep();
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(chain.left, 0);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

struct producer {
  MaxStream* stream;
  atomic_int* sum;
};

static void add_one(void* sum, MaxStatus status) {
  (void)status;
  ++*(atomic_int*)sum;
}

static void* produce(void* user_data) {
  const struct producer* producer = user_data;
  for (int i = 0; i < 500; ++i)
    if (maxStreamEnqueueHostFunction(producer->stream, add_one, producer->sum) != MAX_STATUS_OK ||
        (i % 100 == 0 && maxStreamSynchronize(producer->stream, 0) != MAX_STATUS_OK))
      return user_data;
  return NULL;
}

static void test_many_threads_use_one_stream(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  atomic_int sum = 0;
  struct producer producer = {stream, &sum};
  pthread_t threads[4];
  for (size_t i = 0; i < COUNT_OF(threads); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, produce, &producer), 0);
  for (size_t i = 0; i < COUNT_OF(threads); ++i) {
    void* result = NULL;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_null(result);
  }
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(sum, 2000);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void test_streams_run_at_the_same_time(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* streams[8];
  sem_t gates[8];
  for (size_t i = 0; i < 8; ++i) {
    streams[i] = new_stream(device);
    sem_init(&gates[i], 0, 0);
    CHECK(maxStreamEnqueueHostFunction(streams[i], wait_at_gate, &gates[i]));
  }
  for (size_t i = 8; i-- > 0;) {
    sem_post(&gates[i]);
    CHECK(maxStreamSynchronize(streams[i], 0)); /* although earlier streams still wait */
  }
  for (size_t i = 0; i < 8; ++i) {
    maxStreamRelease(streams[i]);
    sem_destroy(&gates[i]);
  }
  maxDeviceRelease(device);
}

static void test_null_arguments(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = new_stream(device);
  MaxDevice* owner = NULL;
  int32_t flag = 0;
  void* native = NULL;
  const MaxStatus statuses[] = {
      maxStreamCreate(device, NULL, NULL),
      maxStreamWrap(device, NULL, NULL),
      maxStreamGetDevice(NULL, &owner),
      maxStreamGetDevice(stream, NULL),
      maxStreamIsDefault(NULL, &flag),
      maxStreamIsDefault(stream, NULL),
      maxStreamGetNative(NULL, &native),
      maxStreamGetNative(stream, NULL),
      maxStreamSynchronize(NULL, 0),
      maxStreamWaitForStream(NULL, stream),
      maxStreamWaitForStream(stream, NULL),
      maxStreamWaitForDevice(NULL, device),
      maxStreamWaitForDevice(stream, NULL),
      maxStreamWaitForEvent(stream, NULL),
      maxStreamRecordEvent(stream, NULL),
      maxStreamEnqueueHostFunction(NULL, add_one, NULL),
      maxStreamEnqueueHostFunction(stream, NULL, NULL),
  };
  for (size_t i = 0; i < COUNT_OF(statuses); ++i) assert_int_equal(statuses[i], MAX_STATUS_INVALID_ARGUMENT);
  maxStreamRetain(NULL);
  maxStreamRelease(NULL);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_default_stream_runs_in_the_calling_thread),
      TEST(test_created_stream_has_a_worker_only_while_it_is_needed),
      TEST(test_properties),
      TEST(test_work_runs_in_order),
      TEST(test_enqueued_copies_keep_their_buffers),
      TEST(test_buffers_bound_to_a_stream),
      TEST(test_waits_between_streams),
      TEST(test_release_leaves_work_to_be_done),
      TEST(test_a_host_function_cannot_wait_for_its_own_stream),
      TEST(test_waits_have_a_limit),
      TEST(test_host_functions_may_enqueue),
      TEST(test_many_threads_use_one_stream),
      TEST(test_streams_run_at_the_same_time),
      TEST(test_null_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
