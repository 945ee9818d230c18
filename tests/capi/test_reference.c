/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of the reference system that are put together of several functions, and values that no other test names; see
   docs/reference_names.md. */
#include "kernel_fixture.h"

/* Buffer.scalar, Buffer.item */
static void test_scalar_and_item(void** state) {
  (void)state;
  MaxBuffer* scalar = new_buffer(shared.device, MAX_DTYPE_FLOAT64, 0, NULL);
  const double value = 2.5;
  double item = 0;
  CHECK(maxBufferWrite(scalar, NULL, 0, &value, sizeof value));
  CHECK(maxBufferRead(scalar, NULL, 0, sizeof item, &item));
  assert_true(item == 2.5);
  assert_int_equal(info_of(scalar).rank, 0);
  assert_int_equal(info_of(scalar).elementCount, 1);
  maxBufferRelease(scalar);
}

/* Any producer of DLPack is an array. */
static MaxBuffer* import_array(MaxBuffer* array) {
  struct DLManagedTensorVersioned* tensor = NULL;
  MaxBuffer* buffer = NULL;
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  options.copy = MAX_DLPACK_COPY_IF_NEEDED; /* the address is aligned */
  CHECK(maxBufferToDlpack(array, NULL, &tensor));
  CHECK(maxBufferFromDlpack(tensor, &options, &buffer));
  return buffer;
}

/* Buffer(ndarray, device) */
static void test_array_on_a_device(void** state) {
  (void)state;
  MaxBuffer *array = new_vector(4, 1), *imported = import_array(array), *there = NULL;
  CHECK(maxBufferTo(imported, shared.device, NULL, &there));
  assert_ptr_equal(info_of(there).device, shared.device);
  assert_ptr_equal(data_of(there), data_of(array)); /* it was there already */
  maxBufferRelease(there);
  maxBufferRelease(imported);
  maxBufferRelease(array);
}

/* Buffer.from_numpy */
static void test_noncontiguous_array(void** state) {
  (void)state;
  MaxBuffer *array = new_vector(6, 0), *strided = NULL, *dense = NULL;
  const int64_t ends = MAX_SLICE_OMITTED, step = -2;
  CHECK(maxBufferSlice(array, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, &ends, &ends, &step, 1, &strided));
  MaxBuffer* imported = import_array(strided);
  assert_false(info_of(imported).flags & MAX_BUFFER_FLAG_CONTIGUOUS);
  CHECK(maxBufferContiguous(imported, NULL, &dense));
  assert_true(info_of(dense).flags & MAX_BUFFER_FLAG_CONTIGUOUS);
  for (int i = 0; i < 3; ++i) assert_true(((const float*)data_of(dense))[i] == (float)(5 - 2 * i));
  maxBufferRelease(dense);
  maxBufferRelease(imported);
  maxBufferRelease(strided);
  maxBufferRelease(array);
}

/* buffer[1, ..., None] */
static void test_slices_of_all_kinds(void** state) {
  (void)state;
  MaxBuffer *buffer = new_counting(shared.device, 3, (const int64_t[]){2, 3, 4}), *view = NULL;
  const MaxSliceKind kinds[] = {MAX_SLICE_KIND_INDEX, MAX_SLICE_KIND_ELLIPSIS, MAX_SLICE_KIND_NEW_AXIS};
  CHECK(maxBufferSlice(buffer, kinds, (const int64_t[]){-1, 0, 0}, NULL, NULL, 3, &view));
  const MaxBufferInfo info = info_of(view);
  const int64_t expected[] = {3, 4, 1};
  assert_int_equal(info.rank, 3);
  assert_memory_equal(info.shape, expected, sizeof expected);
  int32_t first = 0;
  CHECK(maxBufferRead(view, (const int64_t[]){0, 0, 0}, 3, sizeof first, &first));
  assert_int_equal(first, 12);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
}

/* Buffer.stream, enqueue_create_buffer */
static void test_buffer_of_a_stream(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  MaxBuffer *bound = NULL, *unbound = new_vector(1, 0);
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  options.stream = stream;
  CHECK(maxBufferCreate(shared.device, MAX_DTYPE_INT8, 1, (const int64_t[]){9}, &options, &bound));
  assert_ptr_equal(info_of(bound).stream, stream);
  CHECK(maxDeviceGetDefaultStream(shared.device, &stream));
  assert_ptr_equal(info_of(unbound).stream, stream);
  stream = info_of(bound).stream;
  maxBufferRelease(bound);
  maxBufferRelease(unbound);
  maxStreamRelease(stream);
}

/* copy_device_to_device_sync, memset_sync */
static void test_synchronous_forms(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  MaxBuffer *a = new_vector(3, 0), *b = new_vector(3, 0);
  const float value = 7;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  CHECK(maxBufferFill(a, &value, sizeof value, stream));
  CHECK(maxBufferCopy(b, 0, a, 0, 3 * sizeof value, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_true(((const float*)data_of(b))[2] == 7);
  maxStreamRelease(stream);
  maxBufferRelease(a);
  maxBufferRelease(b);
}

/* Device.synchronize */
static void test_device_tells_what_has_failed(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  const int32_t limit = 3;
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.block[0] = 8;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  CHECK(maxKernelLaunch(kernel_of("checked"), &config, (const void*[]){&limit}, NULL, 1, stream));
  CHECK_FAILS(maxDeviceSynchronize(shared.device, 0), MAX_STATUS_FAILED_PRECONDITION, "'checked'");
  CHECK(maxDeviceSynchronize(shared.device, 0)); /* told once */
  maxStreamRelease(stream);
}

/* enqueue_function(func_attribute=..., dump_asm=True) */
static void test_launch_with_attribute_and_assembly(void** state) {
  (void)state;
  const MaxKernelAttribute limit = MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE;
  MaxKernel* kernel = kernel_of("nothing");
  const void* assembly = NULL;
  size_t size = 0;
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.sharedByteCount = 100 << 10;
  CHECK_FAILS(maxKernelLaunch(kernel, &config, NULL, NULL, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "102400 bytes");
  CHECK(maxKernelSetAttribute(kernel, limit, 100 << 10));
  CHECK(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_ASSEMBLY, &assembly, &size));
  assert_non_null(strstr(assembly, "nothing"));
  CHECK(maxKernelLaunch(kernel, &config, NULL, NULL, 0, NULL));
  CHECK(maxKernelSetAttribute(kernel, limit, 48 << 10));
}

/* CPU(id) */
static void test_host_has_one_id(void** state) {
  (void)state;
  MaxDevice *first = NULL, *again = NULL, *other = NULL;
  int32_t id = -1;
  CHECK(maxDeviceCreate("cpu", -1, NULL, &first));
  CHECK(maxDeviceCreate("cpu", 0, NULL, &again));
  assert_ptr_equal(first, again);
  CHECK(maxDeviceGetId(first, &id));
  assert_int_equal(id, 0);
  CHECK_FAILS(maxDeviceCreate("cpu", 1, NULL, &other), MAX_STATUS_NOT_FOUND, "cpu:1");
  maxDeviceRelease(again);
  maxDeviceRelease(first);
}

/* LogLevel */
static void test_levels_of_the_log(void** state) {
  (void)state;
  const MaxLogLevel levels[] = {MAX_LOG_LEVEL_TRACE,   MAX_LOG_LEVEL_DEBUG, MAX_LOG_LEVEL_INFO,
                                MAX_LOG_LEVEL_WARNING, MAX_LOG_LEVEL_ERROR, MAX_LOG_LEVEL_CRITICAL};
  MaxSession* session = NULL;
  MaxLogLevel initial = -1, unset = -1;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxSessionGetLogLevel(session, &initial));
  for (size_t i = 0; i < COUNT_OF(levels); ++i) {
    MaxLogLevel level = -1;
    CHECK(maxSessionSetLogLevel(session, levels[i]));
    CHECK(maxSessionGetLogLevel(session, &level));
    assert_int_equal(level, levels[i]);
    if (i > 0) assert_true(levels[i] > levels[i - 1]); /* the more serious, the larger */
  }
  CHECK(maxSessionSetLogLevel(session, MAX_LOG_LEVEL_NOTSET)); /* as it was at first */
  CHECK(maxSessionGetLogLevel(session, &unset));
  assert_int_equal(unset, initial);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SHARED_TEST(test_scalar_and_item),     SHARED_TEST(test_array_on_a_device),
      SHARED_TEST(test_noncontiguous_array), SHARED_TEST(test_slices_of_all_kinds),
      SHARED_TEST(test_buffer_of_a_stream),  SHARED_TEST(test_synchronous_forms),
      SHARED_TEST(test_host_has_one_id),     SHARED_TEST(test_launch_with_attribute_and_assembly),
      SHARED_TEST(test_levels_of_the_log),   SHARED_TEST(test_device_tells_what_has_failed),
  };
  return RUN_GROUP(tests, compile_shared, release_shared);
}
