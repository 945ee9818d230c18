/* SPDX-License-Identifier: Apache-2.0 */
/* What the conformance tests share: the device under test, and transfers that work on every device. */
#ifndef MAX_TESTS_CONFORMANCE_H
#define MAX_TESTS_CONFORMANCE_H

#include <stdbool.h>

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
  uint64_t address = info_of(buffer).address;
  return (void*)(uintptr_t)address;
}

/* The content of a contiguous buffer, after its stream has been waited for. */
static inline void download(const MaxBuffer* buffer, void* target, size_t size) {
  MaxStream* stream = info_of(buffer).stream;
  CHECK(maxMemoryCopy(target, address_of(buffer), size, MAX_COPY_KIND_DEVICE_TO_HOST, stream));
  CHECK(maxStreamSynchronize(stream, 0));
}

static inline MaxBuffer* upload(MaxDevice* device, MaxDType dtype, int32_t rank, const int64_t* shape,
                                const void* values) {
  MaxBuffer* buffer = new_buffer(device, dtype, rank, shape);
  size_t size = info_of(buffer).byteCount;
  MaxStream* stream = info_of(buffer).stream;
  CHECK(maxMemoryCopy(address_of(buffer), values, size, MAX_COPY_KIND_HOST_TO_DEVICE, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  return buffer;
}

/* NULL if there is one only. */
static inline MaxDevice* open_second_device(void) {
  MaxDevice* device = NULL;
  int32_t count = 0;
  CHECK(maxDeviceGetCount(device_api, &count));
  if (getenv("FAKE_GPU_PEER") && strcmp(device_api, "cpu") != 0) assert_int_equal(count, 2); /* the fakes have two */
  if (count > 1) CHECK(maxDeviceCreate(device_api, 1, NULL, &device));
  return device;
}

/* What a contiguous buffer holds; the caller has waited for work that writes it. */
static inline void check_content(const MaxBuffer* buffer, const void* expected, size_t size) {
  unsigned char* got = malloc(size ? size : 1);
  assert_non_null(got);
  download(buffer, got, size);
  assert_memory_equal(got, expected, size);
  free(got);
}

static inline MaxBuffer* clone_on(const MaxBuffer* buffer, MaxDevice* device, MaxStream* stream) {
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(buffer, device, &options, &copy));
  return copy;
}

/* Random numbers below a limit, the same for equal seeds. */
static inline uint32_t random_below(uint32_t* state, uint32_t limit) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % limit;
}

/* Later work on `stream` comes after what `before` has been given. */
static inline void order_after(MaxStream* stream, MaxStream* before, bool by_event) {
  if (!by_event) {
    CHECK(maxStreamWaitForStream(stream, before));
    return;
  }
  MaxDevice* device = NULL;
  MaxEvent* event = NULL;
  CHECK(maxStreamGetDevice(before, &device));
  CHECK(maxEventCreate(device, NULL, &event));
  CHECK(maxStreamRecordEvent(before, event));
  CHECK(maxStreamWaitForEvent(stream, event));
  maxEventRelease(event);
}

/* The tests of each file, for the table of main. */
void test_copies_of_every_kind(void** state);
void test_copies_between_buffers(void** state);
void test_fills(void** state);
void test_copies_from_and_to_the_host(void** state);
void test_mappings_belong_to_the_memory(void** state);
void test_strided_copies(void** state);
void test_strided_copies_of_many_rows(void** state);
void test_views(void** state);
void test_pinned_buffers(void** state);
void test_two_devices(void** state);
void test_peer_access(void** state);
void test_host_functions(void** state);
void test_copies_follow_host_work(void** state);
void test_copies_follow_streams_of_the_host(void** state);
void test_events(void** state);
void test_waits_have_a_limit(void** state);
void test_errors_are_not_left_behind(void** state);
void test_priorities_and_native_streams(void** state);
void test_work_outlives_its_handles(void** state);
void test_default_limit(void** state);
void test_limit_holds(void** state);
void test_trim_gives_memory_back(void** state);
void test_out_of_device_memory(void** state);
void test_threads(void** state);
void test_forked_child(void** state);
void test_host_beside_device(void** state);
void test_other_api(void** state);
void test_buffer_cache(void** state);
void test_alignment(void** state);
void test_telemetry(void** state);
void test_dlpack_names_the_device(void** state);
void test_dlpack_export_to_a_stream(void** state);
void test_dlpack_import_from_a_stream(void** state);
void test_dlpack_copies_beside_other_work(void** state);
void test_dlpack_of_other_devices(void** state);
void test_borrowed_memory_goes_unasked(void** state);
void test_own_tensor_does_not_hold_its_device(void** state);
void test_last_handle_goes_with_work_queued(void** state);
void test_host_functions_want_memory(void** state);
void test_captured_work(void** state);
void test_captures_survive_other_work(void** state);
void test_captures_fork_and_join(void** state);
void test_streams_wrapped_in_a_capture(void** state);
/* Random copies, fills and waits on several streams, compared with the same program run in order on the host. */
void test_random_programs(void** state);
void test_random_programs_on_two_devices(void** state);

#endif
