/* SPDX-License-Identifier: Apache-2.0 */
/* DLPack tensors in the memory of a device, handed from stream to stream without the host waiting. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "../capi/dlpack_declarations.h"
#include "conformance.h"

enum { COUNT = 50000 };

static int32_t device_type(int pinned) {
  if (strcmp(device_api, "cuda") == 0) return pinned ? 3 : 2;
  if (strcmp(device_api, "hip") == 0) return pinned ? 11 : 10;
  if (strcmp(device_api, "xpu") == 0) return pinned ? 101 : 100;
  return 1;
}

static MaxBuffer* new_on(MaxDevice* device, MaxStream* stream) {
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_INT32, 1, (const int64_t[]){COUNT}, &options, &buffer));
  return buffer;
}

static void check_all(const MaxBuffer* buffer, int32_t value) {
  int32_t* got = malloc(COUNT * sizeof *got);
  assert_non_null(got);
  download(buffer, got, COUNT * sizeof *got);
  for (int i = 0; i < COUNT; ++i) assert_int_equal(got[i], value);
  free(got);
}

void test_dlpack_names_the_device(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  for (int pinned = 0; pinned < 2; ++pinned) {
    MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
    options.pinned = pinned;
    MaxBuffer* buffer = NULL;
    CHECK(maxBufferCreate(device, MAX_DTYPE_INT32, 1, (const int64_t[]){4}, &options, &buffer));
    DLManagedTensorVersioned* versioned = NULL;
    DLManagedTensor* unversioned = NULL;
    CHECK(maxBufferToDlpack(buffer, NULL, &versioned));
    CHECK(maxBufferToDlpackUnversioned(buffer, NULL, &unversioned));
    assert_int_equal(versioned->dl_tensor.device.device_type, device_type(pinned));
    assert_int_equal(versioned->dl_tensor.device.device_id, 0);
    assert_int_equal(unversioned->dl_tensor.device.device_type, device_type(pinned));
    assert_ptr_equal(versioned->dl_tensor.data, address_of(buffer));
    unversioned->deleter(unversioned);
    /* Page-locked memory of a device counts as host memory for importers. */
    MaxBuffer* imported = NULL;
    CHECK(maxBufferFromDlpack(versioned, NULL, &imported));
    assert_ptr_equal(address_of(imported), address_of(buffer));
    int32_t is_host = 0;
    int32_t is_pinned = 0;
    is_host = has_flag(imported, MAX_BUFFER_FLAG_HOST);
    is_pinned = has_flag(imported, MAX_BUFFER_FLAG_PINNED);
    assert_int_equal(is_host, pinned || device_type(0) == 1);
    assert_int_equal(is_pinned, pinned && device_type(0) != 1);
    maxBufferRelease(imported);
    maxBufferRelease(buffer);
  }
  maxDeviceRelease(device);
}

/* The tensor is given up at once, the buffer too: the memory stays until the consumer's work is done. */
void test_dlpack_export_to_a_stream(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* producer = new_stream(device);
  MaxStream* consumer = new_stream(device);
  for (int32_t round = 1; round <= 20; ++round) {
    MaxBuffer* buffer = new_on(device, producer);
    MaxBuffer* result = new_on(device, consumer);
    CHECK(maxBufferFill(buffer, &round, sizeof round, NULL));
    DLManagedTensorVersioned* tensor = NULL;
    MaxDlpackExportOptions export = MAX_DLPACK_EXPORT_OPTIONS_INIT;
    export.stream = consumer;
    CHECK(maxBufferToDlpack(buffer, &export, &tensor));
    CHECK(maxMemoryCopy(address_of(result), tensor->dl_tensor.data, COUNT * sizeof round,
                        MAX_COPY_KIND_DEVICE_TO_DEVICE, consumer));
    tensor->deleter(tensor);
    maxBufferRelease(buffer);
    /* Would overwrite the memory, if it were free already. */
    MaxBuffer* next = new_on(device, producer);
    CHECK(maxBufferFill(next, "\xff", 1, NULL));
    maxBufferRelease(next);
    check_all(result, round);
    maxBufferRelease(result);
  }
  CHECK(maxStreamSynchronize(producer, 0)); /* its last fill holds what is counted */
  maxStreamRelease(consumer);
  maxStreamRelease(producer);
  maxDeviceRelease(device);
}

static void count_deletion(DLManagedTensorVersioned* self) { atomic_fetch_add((atomic_int*)self->manager_ctx, 1); }

/* A tensor goes a moment after the work with it, on any thread; once. */
static void check_deletion(const atomic_int* deleted) {
  for (int i = 0; i < 20000 && *deleted == 0; ++i) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(*deleted, 1);
}

static DLManagedTensorVersioned tensor_of(const MaxBuffer* buffer, int64_t* shape, atomic_int* deleted) {
  DLManagedTensorVersioned tensor = {{1, 1}, deleted, count_deletion, 0, {0}};
  tensor.dl_tensor.data = address_of(buffer);
  tensor.dl_tensor.device.device_type = device_type(0);
  tensor.dl_tensor.ndim = 1;
  tensor.dl_tensor.dtype.bits = 32;
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.dl_tensor.shape = shape;
  return tensor;
}

/* The deleter is called when the work of ours that uses the tensor is done, and not before. */
void test_dlpack_import_from_a_stream(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* producer = new_stream(device);
  MaxStream* consumer = new_stream(device);
  MaxBuffer* source = new_on(device, producer);
  MaxBuffer* result = new_on(device, consumer);
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  options.stream = consumer;
  options.producer = producer;
  int64_t shape[] = {COUNT};
  for (int32_t round = 1; round <= 20; ++round) {
    atomic_int deleted = 0;
    DLManagedTensorVersioned tensor = tensor_of(source, shape, &deleted);
    CHECK(maxBufferFill(source, &round, sizeof round, NULL));
    options.copy = round % 2;
    MaxBuffer* imported = NULL;
    CHECK(maxBufferFromDlpack(&tensor, &options, &imported));
    assert_int_equal(deleted, options.copy);
    CHECK(maxBufferCopy(result, 0, imported, 0, COUNT * sizeof round, consumer));
    maxBufferRelease(imported);
    check_all(result, round);
    CHECK(maxStreamSynchronize(consumer, 0));
    check_deletion(&deleted);
  }
  maxBufferRelease(result);
  maxBufferRelease(source);
  maxStreamRelease(consumer);
  maxStreamRelease(producer);
  maxDeviceRelease(device);
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

/* What was copied is the producer's again, whatever other work the device has. */
void test_dlpack_copies_beside_other_work(void** state) {
  (void)state;
  enum { BUSY = 8 };
  MaxDevice* device = open_device();
  MaxStream* busy = new_stream(device);
  MaxBuffer* source = new_on(device, NULL);
  sem_t gate;
  sem_init(&gate, 0, 0);
  int64_t shape[] = {COUNT};
  atomic_int deleted[BUSY + 1] = {0};
  DLManagedTensorVersioned tensors[BUSY + 1];
  CHECK(maxBufferFill(source, "\1", 1, NULL));
  CHECK(maxStreamWaitForDevice(busy, device));
  CHECK(maxStreamEnqueueHostFunction(busy, wait_at_gate, &gate));
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  for (int i = 0; i <= BUSY; ++i) {
    tensors[i] = tensor_of(source, shape, &deleted[i]);
    options.copy = i == BUSY;
    MaxBuffer* imported = NULL;
    CHECK(maxBufferFromDlpack(&tensors[i], &options, &imported));
    assert_int_equal(deleted[i], options.copy);
    MaxBuffer* copy = options.copy ? NULL : clone_on(imported, NULL, busy);
    maxBufferRelease(imported);
    maxBufferRelease(copy);
  }
  sem_post(&gate);
  CHECK(maxStreamSynchronize(busy, 0));
  maxBufferRelease(source);
  maxStreamRelease(busy);
  maxDeviceRelease(device);
  for (int i = 0; i <= BUSY; ++i) check_deletion(&deleted[i]);
  sem_destroy(&gate);
}

void test_dlpack_of_other_devices(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){COUNT});
  atomic_int deleted = 0;
  int64_t shape[] = {COUNT};
  DLManagedTensorVersioned tensor = tensor_of(buffer, shape, &deleted);
  MaxBuffer* imported = NULL;
  tensor.dl_tensor.device.device_type = 15; /* WebGPU */
  CHECK_FAILS(maxBufferFromDlpack(&tensor, NULL, &imported), MAX_STATUS_UNIMPLEMENTED, "15");
  if (device_type(0) != 1) {
    tensor.dl_tensor.device.device_type = device_type(0);
    tensor.dl_tensor.device.device_id = -1;
    CHECK_FAILS(maxBufferFromDlpack(&tensor, NULL, &imported), MAX_STATUS_INVALID_ARGUMENT, "-1");
    tensor.dl_tensor.device.device_id = 77;
    CHECK_FAILS(maxBufferFromDlpack(&tensor, NULL, &imported), MAX_STATUS_UNAVAILABLE, ":77");
    MaxDevice* host = open_cpu();
    MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
    CHECK(maxDeviceGetDefaultStream(host, &options.stream));
    tensor.dl_tensor.device.device_id = 0;
    CHECK_FAILS(maxBufferFromDlpack(&tensor, &options, &imported), MAX_STATUS_INVALID_ARGUMENT, "another device");
    maxDeviceRelease(host);
  }
  assert_int_equal(deleted, 0);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}
