/* SPDX-License-Identifier: Apache-2.0 */
/* What the headers call thread-safe, from several threads at once. The thread sanitizer runs this test too. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 200 };

struct shared {
  MaxDevice* device;
  MaxStream* stream;
  MaxEvent* event;
  MaxBuffer* buffer;
  atomic_int failures;
};

#define EXPECT(shared, call) ((void)((call) == MAX_STATUS_OK || ++(shared)->failures))

static void run_threads(void* (*function)(void*), struct shared* shared) {
  pthread_t threads[THREADS];
  shared->failures = 0;
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, function, shared), 0);
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(shared->failures, 0);
}

static void* open_and_close(void* argument) {
  struct shared* shared = argument;
  for (int i = 0; i < ROUNDS; ++i) {
    MaxDevice* device = NULL;
    EXPECT(shared, maxDeviceCreate("cpu", -1, NULL, &device));
    MaxBuffer* buffer = NULL;
    EXPECT(shared, maxBufferCreate(device, MAX_DTYPE_INT32, 1, (const int64_t[]){8}, NULL, &buffer));
    maxDeviceRelease(device);
    maxBufferRelease(buffer); /* often the last reference of the device */
  }
  return NULL;
}

static void test_devices_come_and_go(void** state) {
  (void)state;
  struct shared shared = {NULL, NULL, NULL, NULL, 0};
  run_threads(open_and_close, &shared);
}

static void* read_properties(void* argument) {
  struct shared* shared = argument;
  for (int i = 0; i < ROUNDS; ++i) {
    const char* name = NULL;
    MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
    int32_t number = 0;
    MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
    EXPECT(shared, maxDeviceGetName(shared->device, &name));
    if (i % 20 == 0) EXPECT(shared, maxDeviceGetStats(shared->device, &stats));
    EXPECT(shared, maxBufferGetInfo(shared->buffer, &info));
    EXPECT(shared, maxEventQuery(shared->event, &number));
    EXPECT(shared, maxVirtualDeviceSetArchitectureName(i % 2 == 0 ? "sm_80" : "sm_90"));
    EXPECT(shared, maxVirtualDeviceGetArchitectureName(&name));
    if (strcmp(name, "sm_80") != 0 && strcmp(name, "sm_90") != 0) ++shared->failures;
    MaxDType dtype = MAX_DTYPE_INVALID;
    if (maxDTypeFromName("nothing", &dtype) != MAX_STATUS_NOT_FOUND) ++shared->failures;
    if (!strstr(maxGetLastErrorMessage(), "nothing")) ++shared->failures;
  }
  return NULL;
}

static void* use_buffer(void* argument) {
  struct shared* shared = argument;
  for (int i = 0; i < ROUNDS; ++i) {
    MaxBuffer* view = NULL;
    MaxBuffer* copy = NULL;
    const int64_t row = i % 4;
    EXPECT(shared,
           maxBufferSlice(shared->buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_INDEX}, &row, NULL, NULL, 1, &view));
    EXPECT(shared, maxBufferClone(view, NULL, NULL, &copy));
    maxBufferRelease(view);
    int32_t value = -1;
    EXPECT(shared, maxBufferRead(copy, (const int64_t[]){3}, 1, sizeof value, &value));
    if (value != row * 100 + 3) ++shared->failures;
    struct DLManagedTensorVersioned* exported = NULL;
    EXPECT(shared, maxBufferToDlpack(shared->buffer, NULL, &exported));
    EXPECT(shared, maxBufferFromDlpack(exported, NULL, &view)); /* which calls the deleter */
    maxBufferRelease(view);
    maxBufferRelease(copy);
  }
  return NULL;
}

static void* use_stream(void* argument) {
  struct shared* shared = argument;
  MaxBuffer* own = NULL;
  EXPECT(shared, maxBufferCreate(shared->device, MAX_DTYPE_INT32, 2, (const int64_t[]){4, 100}, NULL, &own));
  for (int i = 0; i < ROUNDS; ++i) {
    EXPECT(shared, maxBufferCopy(own, 0, shared->buffer, 0, 1600, shared->stream));
    EXPECT(shared, maxStreamRecordEvent(shared->stream, shared->event));
    EXPECT(shared, maxEventSynchronize(shared->event, 0));
    if (i % 10 == 0) EXPECT(shared, maxStreamSynchronize(shared->stream, 0));
    if (i % 50 == 0) EXPECT(shared, maxDeviceSynchronize(shared->device, 0));
  }
  maxBufferRelease(own);
  return NULL;
}

static void* come_and_go(void* argument) {
  struct shared* shared = argument;
  for (int i = 0; i < ROUNDS / 10; ++i) {
    MaxStream* stream = NULL;
    EXPECT(shared, maxStreamCreate(shared->device, NULL, &stream));
    EXPECT(shared, maxStreamWaitForStream(stream, shared->stream));
    EXPECT(shared, maxStreamWaitForStream(shared->stream, stream));
    EXPECT(shared, maxDeviceSynchronize(shared->device, 0));
    EXPECT(shared, maxStreamSynchronize(stream, 0));
    maxStreamRelease(stream);
  }
  return NULL;
}

static void test_objects_are_shared(void** state) {
  (void)state;
  static void* (*const functions[])(void*) = {read_properties, use_buffer, use_stream, come_and_go};
  struct shared shared = {open_cpu(), NULL, NULL, NULL, 0};
  CHECK(maxStreamCreate(shared.device, NULL, &shared.stream));
  CHECK(maxEventCreate(shared.device, NULL, &shared.event));
  shared.buffer = new_buffer(shared.device, MAX_DTYPE_INT32, 2, (const int64_t[]){4, 100});
  for (int32_t i = 0; i < 400; ++i) ((int32_t*)data_of(shared.buffer))[i] = i;
  for (size_t i = 0; i < COUNT_OF(functions); ++i) run_threads(functions[i], &shared);
  CHECK(maxStreamSynchronize(shared.stream, 0));
  maxBufferRelease(shared.buffer);
  maxEventRelease(shared.event);
  maxStreamRelease(shared.stream);
  maxDeviceRelease(shared.device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_devices_come_and_go),
      TEST(test_objects_are_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
