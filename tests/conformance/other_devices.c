/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of different APIs side by side: this one with the host, and with the other accelerators if there are some. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>

#include "conformance.h"
#include "fake_driver.h"

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

struct note {
  int* clock; /* counts calls */
  int called_at;
};

static void note_call(void* user_data, MaxStatus status) {
  struct note* note = user_data;
  note->called_at = status == MAX_STATUS_OK ? ++*note->clock : -1;
}

/* Work on `second` waits for a mark on `first`, of whatever device, without anybody else waiting. */
static void check_wait(MaxStream* first, MaxStream* second) {
  sem_t gate;
  sem_init(&gate, 0, 0);
  int clock = 0;
  struct note before = {&clock, 0};
  struct note after = {&clock, 0};
  CHECK(maxStreamEnqueueHostFunction(first, wait_at_gate, &gate));
  CHECK(maxStreamEnqueueHostFunction(first, note_call, &before));
  CHECK(maxStreamWaitForStream(second, first));
  CHECK(maxStreamEnqueueHostFunction(second, note_call, &after));
  assert_int_equal(before.called_at, 0);
  sem_post(&gate);
  CHECK(maxStreamSynchronize(second, 0));
  assert_int_equal(before.called_at, 1);
  assert_int_equal(after.called_at, 2);
  CHECK(maxStreamSynchronize(first, 0));
  sem_destroy(&gate);
}

static void check_waits(MaxDevice* first, MaxDevice* second) {
  MaxStream* one = new_stream(first);
  MaxStream* other = new_stream(second);
  check_wait(one, other);
  check_wait(other, one);
  maxStreamRelease(one);
  maxStreamRelease(other);
}

/* There and back, whole and in parts, dense and with strides. */
static void check_copies(MaxDevice* device, MaxDevice* other) {
  enum { COUNT = 3000 };
  static int32_t values[COUNT];
  for (int32_t i = 0; i < COUNT; ++i) values[i] = i * 7;
  MaxBuffer* here = upload(device, MAX_DTYPE_INT32, 1, (const int64_t[]){COUNT}, values);
  MaxStream* stream = new_stream(other);
  MaxBuffer* there = clone_on(here, other, stream);
  check_content(there, values, sizeof values);
  CHECK(maxBufferCopy(here, 40, there, 80, 400, NULL));
  memmove(values + 10, values + 20, 400);
  check_content(here, values, sizeof values);
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(here, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){5}, NULL,
                       (const int64_t[]){3}, 1, &view));
  MaxBuffer* dense = clone_on(view, other, stream);
  int32_t item = 0;
  CHECK(maxBufferRead(dense, (const int64_t[]){700}, 1, sizeof item, &item));
  assert_int_equal(item, values[5 + 3 * 700]);
  maxBufferRelease(dense);
  maxBufferRelease(view);
  maxBufferRelease(there);
  maxBufferRelease(here);
  maxStreamRelease(stream);
}

static void check_no_access(MaxDevice* device, MaxDevice* other) {
  int32_t can = -1;
  CHECK(maxDeviceCanAccess(device, other, &can));
  assert_int_equal(can, 0);
  CHECK_FAILS(maxDeviceEnablePeerAccess(device, other), MAX_STATUS_UNIMPLEMENTED, "cannot access");
}

struct turnstile {
  sem_t started;
  sem_t gate;
};

static void pass_turnstile(void* user_data, MaxStatus status) {
  struct turnstile* turnstile = user_data;
  (void)status;
  sem_post(&turnstile->started);
  sem_wait(&turnstile->gate);
}

/* Waits for the mark that the event has then, not for one that it gets before the stream comes so far. */
static void check_newest_mark(MaxDevice* device, MaxDevice* other) {
  MaxStream* waiting = new_stream(device);
  MaxStream* streams[2] = {new_stream(other), new_stream(other)};
  MaxEvent* event = NULL;
  struct turnstile first;
  sem_t last_gate;
  sem_t own_gate;
  sem_init(&first.started, 0, 0);
  sem_init(&first.gate, 0, 0);
  sem_init(&last_gate, 0, 0);
  sem_init(&own_gate, 0, 0);
  CHECK(maxEventCreate(other, NULL, &event));
  CHECK(maxStreamEnqueueHostFunction(waiting, wait_at_gate, &own_gate));
  CHECK(maxStreamEnqueueHostFunction(streams[0], pass_turnstile, &first));
  sem_wait(&first.started); /* drivers may call host functions one after the other */
  CHECK(maxStreamRecordEvent(streams[0], event));
  CHECK(maxStreamWaitForEvent(waiting, event));
  CHECK(maxStreamEnqueueHostFunction(streams[1], wait_at_gate, &last_gate));
  CHECK(maxStreamRecordEvent(streams[1], event));
  sem_post(&own_gate);
  sem_post(&first.gate);
  CHECK(maxStreamSynchronize(waiting, 0));
  int32_t ready = -1;
  CHECK(maxEventQuery(event, &ready));
  assert_int_equal(ready, 0);
  sem_post(&last_gate);
  CHECK(maxEventSynchronize(event, 0));
  maxEventRelease(event);
  for (int i = 0; i < 2; ++i) maxStreamRelease(streams[i]);
  maxStreamRelease(waiting);
}

void test_host_beside_device(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxDevice* host = open_cpu();
  check_waits(device, host);
  check_copies(device, host);
  check_newest_mark(device, host);
  check_newest_mark(host, device);
  if (device != host) {
    check_no_access(device, host);
    check_no_access(host, device);
    MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){4});
    MaxStream* stream = new_stream(host);
    const int32_t one = 1;
    CHECK_FAILS(maxBufferFill(buffer, &one, sizeof one, stream), MAX_STATUS_INVALID_ARGUMENT, "cpu:0");
    maxStreamRelease(stream);
    maxBufferRelease(buffer);
  }
  maxDeviceRelease(host);
  maxDeviceRelease(device);
}

/* The drivers see page-locked memory alone, and a few parts of it however much is copied. */
static void check_large_copy(const char* api, MaxDevice* device, const char* other_api, MaxDevice* other) {
  struct fake_driver fakes[2];
  const bool are_fakes = find_fake_driver(api, &fakes[0]) && find_fake_driver(other_api, &fakes[1]);
  const size_t size = (17 << 20) + 3;
  const int64_t shape[] = {(int64_t)size};
  unsigned char* values = malloc(size);
  assert_non_null(values);
  for (size_t i = 0; i < size; ++i) values[i] = (unsigned char)(i * 7 + i / 1000);
  MaxBuffer* source = upload(other, MAX_DTYPE_UINT8, 1, shape, values);
  MaxBuffer* target = new_buffer(device, MAX_DTYPE_UINT8, 1, shape);
  CHECK(maxDeviceTrim(device));
  CHECK(maxDeviceTrim(other));
  int64_t pageable[2] = {0}, pinned[2] = {0};
  for (int i = 0; are_fakes && i < 2; ++i) {
    pageable[i] = fakes[i].count(FAKE_GPU_PAGEABLE_COPIES);
    pinned[i] = fakes[i].count(FAKE_GPU_PINNED_BYTES);
  }
  MaxStream* stream = new_stream(other);
  CHECK(maxBufferCopy(target, 0, source, 0, size, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  for (int i = 0; are_fakes && i < 2; ++i) {
    assert_int_equal(fakes[i].count(FAKE_GPU_PAGEABLE_COPIES), pageable[i]);
    assert_in_range(fakes[i].count(FAKE_GPU_PINNED_BYTES) - pinned[i], 4 << 20, 9 << 20);
  }
  check_content(target, values, size);
  free(values);
  maxStreamRelease(stream);
  maxBufferRelease(source);
  maxBufferRelease(target);
}

void test_other_api(void** state) {
  (void)state;
  const char* other_api = strcmp(device_api, "cuda") == 0 ? "hip" : "cuda";
  int32_t count = 0;
  CHECK(maxDeviceGetCount(other_api, &count));
  if (count == 0) return;
  MaxDevice* device = open_device();
  MaxDevice* other = NULL;
  CHECK(maxDeviceCreate(other_api, -1, NULL, &other));
  assert_ptr_not_equal(device, other);
  check_waits(device, other);
  check_copies(device, other);
  check_large_copy(device_api, device, other_api, other);
  check_large_copy(other_api, other, device_api, device);
  check_no_access(device, other);
  check_newest_mark(device, other);
  MaxStream* stream = new_stream(device);
  MaxEvent* event = NULL;
  CHECK(maxEventCreate(other, NULL, &event));
  CHECK_FAILS(maxStreamRecordEvent(stream, event), MAX_STATUS_INVALID_ARGUMENT, device_api);
  CHECK_FAILS(maxStreamRecordEvent(stream, event), MAX_STATUS_INVALID_ARGUMENT, other_api);
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(other);
  maxDeviceRelease(device);
}
