/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of every device. The argument names the API; exit status 77 = no such device. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>

#include "conformance.h"
#include "fake_driver.h"

const char* device_api = "cpu";

static void test_same_id_is_same_device(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxDevice* again = NULL;
  int32_t id = -1;
  CHECK(maxDeviceGetId(device, &id));
  CHECK(maxDeviceCreate(device_api, id, NULL, &again));
  assert_ptr_equal(device, again);
  const char* text = NULL;
  CHECK(maxDeviceGetApi(device, &text));
  assert_string_equal(text, device_api);
  int32_t is_host = -1;
  CHECK(maxDeviceIsHost(device, &is_host));
  CHECK(maxDeviceGetLabel(device, &text));
  assert_string_equal(text, is_host ? "cpu" : "gpu");
  int32_t count = 0;
  CHECK(maxDeviceGetCount(device_api, &count));
  assert_true(id >= 0 && id < count);
  maxDeviceRelease(again);
  maxDeviceRelease(device);
}

static void test_memory_reports_agree(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  const MaxDeviceStatsMask needed = MAX_DEVICE_STATS_FREE_MEMORY | MAX_DEVICE_STATS_TOTAL_MEMORY;
  assert_int_equal(stats.validMask & needed, needed);
  assert_int_equal(stats.totalMemory, total);
  assert_true(stats.freeMemory <= total && free_bytes <= total);
  int64_t processors = 0;
  CHECK(maxDeviceGetAttribute(device, MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors));
  assert_true(processors > 0);
  maxDeviceRelease(device);
}

static void test_upload_and_download(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  static unsigned char values[100000];
  static unsigned char back[100000];
  for (size_t i = 0; i < sizeof values; ++i) values[i] = (unsigned char)(i * 13);
  MaxBuffer* buffer = upload(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){sizeof values}, values);
  download(buffer, back, sizeof back);
  assert_memory_equal(values, back, sizeof back);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_zeroed_buffers(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_INT64, 1, (const int64_t[]){1000}, &options, &buffer));
  int64_t values[1000];
  memset(values, 1, sizeof values);
  download(buffer, values, sizeof values);
  for (size_t i = 0; i < COUNT_OF(values); ++i) assert_int_equal(values[i], 0);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_host_and_back(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxDevice* host = open_cpu();
  const float values[6] = {1, 2, 3, 4, 5, 6};
  MaxBuffer* buffer = upload(device, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){2, 3}, values);
  MaxBuffer* on_host = NULL;
  CHECK(maxBufferClone(buffer, host, NULL, &on_host));
  CHECK(maxDeviceSynchronize(host, 0));
  assert_memory_equal(data_of(on_host), values, sizeof values);
  ((float*)data_of(on_host))[5] = 60;
  MaxBuffer* there = NULL;
  CHECK(maxBufferTo(on_host, device, NULL, &there));
  CHECK(maxDeviceSynchronize(device, 0));
  float item = 0;
  CHECK(maxBufferRead(there, (const int64_t[]){1, -1}, 2, sizeof item, &item));
  assert_true(item == 60.0f);
  MaxBuffer* same = NULL;
  CHECK(maxBufferTo(there, device, NULL, &same));
  assert_ptr_equal(same, there);
  maxBufferRelease(same);
  maxBufferRelease(there);
  maxBufferRelease(on_host);
  maxBufferRelease(buffer);
  maxDeviceRelease(host);
  maxDeviceRelease(device);
}

static void test_slices_can_be_copied(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  const int32_t values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  MaxBuffer* buffer = upload(device, MAX_DTYPE_INT32, 2, (const int64_t[]){3, 4}, values);
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE, MAX_SLICE_KIND_RANGE},
                       (const int64_t[]){MAX_SLICE_OMITTED, 1}, NULL, (const int64_t[]){-1, 2}, 2, &view));
  MaxBuffer* dense = NULL;
  CHECK(maxBufferContiguous(view, NULL, &dense));
  int32_t got[6] = {0};
  download(dense, got, sizeof got);
  assert_memory_equal(got, ((const int32_t[]){9, 11, 5, 7, 1, 3}), sizeof got);
  const int32_t item = -5;
  CHECK(maxBufferWrite(view, (const int64_t[]){0, 0}, 2, &item, sizeof item));
  int32_t all[12];
  download(buffer, all, sizeof all);
  assert_int_equal(all[9], -5);
  maxBufferRelease(dense);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_map_writes_back(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  const int32_t values[3] = {1, 2, 3};
  MaxBuffer* buffer = upload(device, MAX_DTYPE_INT32, 1, (const int64_t[]){3}, values);
  int32_t* data = NULL;
  void* mapped = NULL;
  CHECK(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE, &mapped));
  data = mapped;
  assert_memory_equal(data, values, sizeof values);
  data[1] = 20;
  CHECK_FAILS(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ, &mapped), MAX_STATUS_FAILED_PRECONDITION, "mapped");
  CHECK(maxBufferUnmapFromHost(buffer));
  int32_t got[3];
  download(buffer, got, sizeof got);
  assert_memory_equal(got, ((const int32_t[]){1, 20, 3}), sizeof got);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

static void note_call(void* user_data, MaxStatus status) { *(int*)user_data = status == MAX_STATUS_OK ? 1 : -1; }

static void test_streams_and_events(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* first = new_stream(device);
  MaxStream* second = new_stream(device);
  MaxEventOptions timed = MAX_EVENT_OPTIONS_INIT;
  timed.timing = 1;
  MaxEvent* start = NULL;
  MaxEvent* end = NULL;
  CHECK(maxEventCreate(device, &timed, &start));
  CHECK(maxEventCreate(device, &timed, &end));
  sem_t gate;
  sem_init(&gate, 0, 0);
  int called = 0;
  CHECK(maxStreamRecordEvent(first, start));
  CHECK(maxStreamEnqueueHostFunction(first, wait_at_gate, &gate));
  CHECK(maxStreamRecordEvent(first, end));
  CHECK(maxStreamWaitForEvent(second, end));
  CHECK(maxStreamEnqueueHostFunction(second, note_call, &called));
  int32_t ready = -1;
  CHECK(maxEventQuery(end, &ready));
  assert_int_equal(ready, 0);
  sem_post(&gate);
  CHECK(maxStreamSynchronize(second, 0));
  assert_int_equal(called, 1);
  CHECK(maxEventQuery(end, &ready));
  assert_int_equal(ready, 1);
  int64_t elapsed = -1;
  CHECK(maxEventGetElapsedTime(start, end, &elapsed));
  assert_true(elapsed >= 0);
  CHECK(maxStreamSynchronize(first, 0));
  maxEventRelease(start);
  maxEventRelease(end);
  maxStreamRelease(first);
  maxStreamRelease(second);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

static void test_out_of_memory_is_an_error_and_no_more(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxBuffer* huge = NULL;
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){INT64_MAX / 2}, NULL, &huge),
              MAX_STATUS_RESOURCE_EXHAUSTED, "4611686018427387903");
  assert_null(huge);
  CHECK(maxDeviceTrim(device));
  MaxBuffer* small = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){100});
  maxBufferRelease(small);
  maxDeviceRelease(device);
}

static void test_memory_limit(void** state) {
  (void)state;
  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.memoryLimit = (uint64_t)4 << 20;
  MaxDevice* device = NULL;
  CHECK(maxDeviceCreate(device_api, -1, &options, &device));
  MaxBuffer* buffers[8] = {NULL};
  int made = 0;
  while (made < 8 &&
         maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1 << 20}, NULL, &buffers[made]) == MAX_STATUS_OK)
    ++made;
  assert_true(made >= 1 && made <= 4);
  while (made > 0) maxBufferRelease(buffers[--made]);
  CHECK(maxDeviceSynchronize(device, 0));
  buffers[0] = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1 << 20}); /* it can be used again */
  maxBufferRelease(buffers[0]);
  maxDeviceRelease(device);
}

static void test_pinned_memory(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  void* block = NULL;
  CHECK(maxHostAllocate(device, 4000, &block));
  assert_int_equal((uintptr_t)block % 4096, 0);
  memset(block, 9, 4000);
  MaxBuffer* buffer = upload(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){4000}, block);
  memset(block, 0, 4000);
  download(buffer, block, 4000);
  assert_int_equal(((unsigned char*)block)[3999], 9);
  CHECK(maxHostFree(device, block));
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

int main(int argc, char** argv) {
  if (argc > 1) device_api = argv[1];
  MaxDevice* device = NULL;
  const MaxStatus status = maxDeviceCreate(device_api, -1, NULL, &device);
  maxDeviceRelease(device);
  if (status == MAX_STATUS_UNAVAILABLE) {
    printf("skipped: %s\n", maxGetLastErrorMessage());
    return 77;
  }
  const struct CMUnitTest tests[] = {
      TEST(test_same_id_is_same_device),
      TEST(test_memory_reports_agree),
      TEST(test_upload_and_download),
      TEST(test_zeroed_buffers),
      TEST(test_host_and_back),
      TEST(test_slices_can_be_copied),
      TEST(test_map_writes_back),
      TEST(test_streams_and_events),
      TEST(test_out_of_memory_is_an_error_and_no_more),
      TEST(test_memory_limit),
      TEST(test_pinned_memory),
      TEST(test_copies_of_every_kind),
      TEST(test_copies_between_buffers),
      TEST(test_fills),
      TEST(test_copies_from_and_to_the_host),
      TEST(test_mappings_belong_to_the_memory),
      TEST(test_strided_copies),
      TEST(test_strided_copies_of_many_rows),
      TEST(test_views),
      TEST(test_pinned_buffers),
      TEST(test_two_devices),
      TEST(test_peer_access),
      TEST(test_host_functions),
      TEST(test_copies_follow_host_work),
      TEST(test_copies_follow_streams_of_the_host),
      TEST(test_events),
      TEST(test_waits_have_a_limit),
      TEST(test_errors_are_not_left_behind),
      TEST(test_priorities_and_native_streams),
      TEST(test_work_outlives_its_handles),
      TEST(test_default_limit),
      TEST(test_limit_holds),
      TEST(test_trim_gives_memory_back),
      TEST(test_out_of_device_memory),
      TEST(test_threads),
      TEST(test_forked_child),
      TEST(test_host_beside_device),
      TEST(test_other_api),
      TEST(test_buffer_cache),
      TEST(test_alignment),
      TEST(test_telemetry),
      TEST(test_dlpack_names_the_device),
      TEST(test_dlpack_export_to_a_stream),
      TEST(test_dlpack_import_from_a_stream),
      TEST(test_dlpack_copies_beside_other_work),
      TEST(test_dlpack_of_other_devices),
      TEST(test_borrowed_memory_goes_unasked),
      TEST(test_own_tensor_does_not_hold_its_device),
      TEST(test_last_handle_goes_with_work_queued),
      TEST(test_host_functions_want_memory),
      TEST(test_captured_work),
      TEST(test_captures_survive_other_work),
      TEST(test_captures_fork_and_join),
      TEST(test_streams_wrapped_in_a_capture),
      TEST(test_random_programs),
      TEST(test_random_programs_on_two_devices),
  };
  return RUN_GROUP(tests, NULL, check_fake_driver);
}
