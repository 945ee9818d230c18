/* SPDX-License-Identifier: Apache-2.0 */
/* What the conformance tests share: the device under test, and transfers that work on every device. */
#ifndef MAX_TESTS_CONFORMANCE_H
#define MAX_TESTS_CONFORMANCE_H

#include "../capi/check.h"

extern const char* device_api;

static inline MaxDevice* open_device(void) {
  MaxDevice* device = NULL;
  CHECK(maxDeviceCreate(device_api, -1, NULL, &device));
  return device;
}

static inline MaxStream* new_stream(MaxDevice* device) {
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  return stream;
}

static inline void* address_of(const MaxBuffer* buffer) {
  uint64_t address = 0;
  CHECK(maxBufferGetAddress(buffer, &address));
  return (void*)(uintptr_t)address;
}

/* The content of a contiguous buffer, after its stream has been waited for. */
static inline void download(const MaxBuffer* buffer, void* target, size_t size) {
  MaxStream* stream = NULL;
  CHECK(maxBufferGetStream(buffer, &stream));
  CHECK(maxMemoryCopy(target, address_of(buffer), size, MAX_COPY_KIND_DEVICE_TO_HOST, stream));
  CHECK(maxStreamSynchronize(stream));
}

static inline MaxBuffer* upload(MaxDevice* device, MaxDType dtype, int32_t rank, const int64_t* shape,
                                const void* values) {
  MaxBuffer* buffer = new_buffer(device, dtype, rank, shape);
  size_t size = 0;
  CHECK(maxBufferGetByteCount(buffer, &size));
  MaxStream* stream = NULL;
  CHECK(maxBufferGetStream(buffer, &stream));
  CHECK(maxMemoryCopy(address_of(buffer), values, size, MAX_COPY_KIND_HOST_TO_DEVICE, stream));
  CHECK(maxStreamSynchronize(stream));
  return buffer;
}

/* Random copies, fills and waits on several streams, compared with the same program run in order on the host. */
void test_random_programs(void** state);

#endif
