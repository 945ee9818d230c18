/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and devices released while no call runs, and host functions that call for memory. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <time.h>

#include "../capi/dlpack_declarations.h"
#include "conformance.h"

enum { COUNT = 1000, PATIENCE_S = 20 };

static void post(void* gate) { sem_post(gate); }

/* Whether the semaphore is posted while this thread makes no call of the library. */
static bool is_posted(sem_t* gate) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += PATIENCE_S;
  return sem_timedwait(gate, &end) == 0;
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

/* The owner of borrowed memory is told that work with it is done, though no call asks. */
void test_borrowed_memory_goes_unasked(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxBuffer* owner = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){COUNT});
  sem_t gate;
  sem_t gone;
  sem_init(&gate, 0, 0);
  sem_init(&gone, 0, 0);
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.stream = stream;
  options.release = post;
  options.userData = &gone;
  MaxBuffer* borrowed = NULL;
  const unsigned char one = 1;
  CHECK(maxBufferWrap(device, address_of(owner), MAX_DTYPE_UINT8, 1, (const int64_t[]){COUNT}, &options, &borrowed));
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxBufferFill(borrowed, &one, 1, NULL));
  maxBufferRelease(borrowed);
  assert_int_equal(sem_trywait(&gone), -1);
  sem_post(&gate);
  assert_true(is_posted(&gone));
  maxBufferRelease(owner);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
  sem_destroy(&gate);
  sem_destroy(&gone);
}

/* Queued work holds a tensor that holds a buffer of the same device: all that is released goes when the work is done.
 */
void test_own_tensor_does_not_hold_its_device(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){COUNT});
  DLManagedTensorVersioned* tensor = NULL;
  MaxBuffer* imported = NULL;
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  options.stream = stream;
  sem_t gate;
  sem_init(&gate, 0, 0);
  const unsigned char one = 1;
  MaxDlpackExportOptions export = MAX_DLPACK_EXPORT_OPTIONS_INIT;
  export.stream = stream;
  CHECK(maxBufferToDlpack(buffer, &export, &tensor));
  CHECK(maxBufferFromDlpack(tensor, &options, &imported));
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxBufferFill(imported, &one, 1, NULL));
  maxBufferRelease(imported);
  maxBufferRelease(buffer);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
  sem_post(&gate);
  for (int i = 0; i < PATIENCE_S * 1000 && live_objects() != 0; ++i)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(live_objects(), 0);
  sem_destroy(&gate);
}

struct last_handle {
  MaxStream* stream;
  sem_t done;
};

static void drop_last_handle(void* user_data, MaxStatus status) {
  struct last_handle* last = user_data;
  (void)status;
  maxStreamRelease(last->stream);
  sem_post(&last->done);
}

/* Drivers may wait for a stream's work when they destroy it; we do not, wherever the last handle goes. */
void test_last_handle_goes_with_work_queued(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  maxStreamRelease(stream);
  sem_post(&gate);
  struct last_handle last = {.stream = new_stream(device)};
  sem_init(&last.done, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(last.stream, drop_last_handle, &last));
  assert_true(is_posted(&last.done));
  CHECK(maxDeviceSynchronize(device, 0)); /* nothing waits at the gate any more */
  maxDeviceRelease(device);
  sem_destroy(&last.done);
  sem_destroy(&gate);
}

struct wanting {
  MaxDevice* device;
  sem_t started;
  MaxStatus allocated;
  MaxStatus exhausted;
  MaxStatus trimmed;
};

/* Another thread gives memory back meanwhile, for which drivers wait for this function. */
static void want_memory(void* user_data, MaxStatus status) {
  struct wanting* w = user_data;
  (void)status;
  sem_post(&w->started);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  MaxBuffer* small = NULL;
  MaxBuffer* large = NULL;
  w->allocated = maxBufferCreate(w->device, MAX_DTYPE_UINT8, 1, (const int64_t[]){COUNT}, NULL, &small);
  w->exhausted = maxBufferCreate(w->device, MAX_DTYPE_UINT8, 1, (const int64_t[]){8 << 20}, NULL, &large);
  w->trimmed = maxDeviceTrim(w->device);
  maxBufferRelease(large);
  maxBufferRelease(small);
}

/* A driver that gives memory back waits for host functions: these must not wait for it. */
void test_host_functions_want_memory(void** state) {
  (void)state;
  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.memoryLimit = 6 << 20;
  options.bufferCacheSize = 1 << 20;
  struct wanting w = {.trimmed = -1};
  CHECK(maxDeviceCreate(device_api, -1, &options, &w.device));
  MaxStream* stream = new_stream(w.device);
  int32_t is_host = 0;
  CHECK(maxDeviceIsHost(w.device, &is_host));
  sem_init(&w.started, 0, 0);
  for (int round = 0; round < 2; ++round) { /* the second time no memory is kept that was taken in advance */
    maxBufferRelease(new_buffer(w.device, MAX_DTYPE_UINT8, 1, (const int64_t[]){3 << 20}));
    CHECK(maxStreamEnqueueHostFunction(stream, want_memory, &w));
    sem_wait(&w.started);
    CHECK(maxDeviceTrim(w.device));
    CHECK(maxStreamSynchronize(stream, 0));
    CHECK(w.allocated);
    assert_int_equal(w.exhausted, MAX_STATUS_RESOURCE_EXHAUSTED);
    assert_int_equal(w.trimmed, is_host ? MAX_STATUS_OK : MAX_STATUS_FAILED_PRECONDITION);
  }
  maxStreamRelease(stream);
  maxDeviceRelease(w.device);
  sem_destroy(&w.started);
}
