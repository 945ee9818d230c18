/* SPDX-License-Identifier: Apache-2.0 */
#include <semaphore.h>

#include "check.h"
#include "dlpack_declarations.h"

static void count_versioned(DLManagedTensorVersioned* self) { ++*(int*)self->manager_ctx; }
static void count_unversioned(DLManagedTensor* self) { ++*(int*)self->manager_ctx; }

static float values[12];
static int64_t shape[2] = {2, 3};
static int64_t strides[2] = {6, 2};

static DLTensor strided_tensor(void) {
  for (int i = 0; i < 12; ++i) values[i] = (float)i;
  const DLTensor tensor = {values, {1, 0}, 2, {2, 32, 1}, shape, strides, 4};
  return tensor;
}

static void check_imported(MaxBuffer* buffer) {
  assert_ptr_equal(data_of(buffer), values + 1);
  float value = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){1, 2}, 2, 4, &value));
  assert_true(value == 11.0f);
  const int64_t* got = info_of(buffer).strides;
  assert_memory_equal(got, strides, sizeof strides);
}

static void test_import_shares_memory_until_the_last_view_goes(void** state) {
  (void)state;
  int deleted = 0;
  DLManagedTensorVersioned managed = {{1, 1}, &deleted, count_versioned, 0, strided_tensor()};
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferFromDlpack(&managed, NULL, &buffer));
  check_imported(buffer);
  MaxBuffer* view = NULL;
  CHECK(
      maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_INDEX}, (const int64_t[]){0}, NULL, NULL, 1, &view));
  maxBufferRelease(buffer);
  assert_int_equal(deleted, 0);
  maxBufferRelease(view);
  assert_int_equal(deleted, 1);
}

static void test_import_without_a_version(void** state) {
  (void)state;
  int deleted = 0;
  DLManagedTensor managed = {strided_tensor(), &deleted, count_unversioned};
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferFromDlpackUnversioned(&managed, NULL, &buffer));
  check_imported(buffer);
  maxBufferRelease(buffer);
  assert_int_equal(deleted, 1);
  managed.deleter = NULL; /* allowed: nothing to free */
  CHECK(maxBufferFromDlpackUnversioned(&managed, NULL, &buffer));
  maxBufferRelease(buffer);
}

static void test_import_copies(void** state) {
  (void)state;
  int deleted = 0;
  DLManagedTensorVersioned managed = {{1, 0}, &deleted, count_versioned, 1, strided_tensor()};
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  options.copy = MAX_DLPACK_COPY_ALWAYS;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferFromDlpack(&managed, &options, &buffer));
  assert_int_equal(deleted, 1);
  int32_t flag = has_flag(buffer, MAX_BUFFER_FLAG_READ_ONLY);
  assert_int_equal(flag, 0);
  assert_memory_equal(data_of(buffer), ((const float[]){1, 3, 5, 7, 9, 11}), 24);
  maxBufferRelease(buffer);

  /* An address that is not aligned is copied too. */
  managed.dl_tensor.byte_offset = 5;
  managed.dl_tensor.strides = NULL;
  CHECK(maxBufferFromDlpack(&managed, NULL, &buffer));
  assert_int_equal(deleted, 2);
  assert_memory_equal(data_of(buffer), (const char*)values + 5, 24);
  maxBufferRelease(buffer);

  /* Unless that is not wanted; then the tensor stays with the caller. */
  options.copy = MAX_DLPACK_COPY_NEVER;
  CHECK_FAILS(maxBufferFromDlpack(&managed, &options, &buffer), MAX_STATUS_FAILED_PRECONDITION, "is not aligned");
  assert_null(buffer);
  assert_int_equal(deleted, 2);
  managed.dl_tensor.byte_offset = 4;
  CHECK(maxBufferFromDlpack(&managed, &options, &buffer));
  assert_int_equal(info_of(buffer).address, (uint64_t)(uintptr_t)(values + 1));
  maxBufferRelease(buffer);
  assert_int_equal(deleted, 3);
  options.copy = 3;
  CHECK_FAILS(maxBufferFromDlpack(&managed, &options, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "copy of MaxDlpackOptions is 3");
}

static void test_read_only_flag(void** state) {
  (void)state;
  int deleted = 0;
  DLManagedTensorVersioned managed = {{1, 0}, &deleted, count_versioned, 1, strided_tensor()};
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferFromDlpack(&managed, NULL, &buffer));
  CHECK_FAILS(maxBufferFill(buffer, "x", 1, NULL), MAX_STATUS_FAILED_PRECONDITION, "read-only");
  DLManagedTensorVersioned* exported = NULL;
  CHECK(maxBufferToDlpack(buffer, NULL, &exported));
  assert_int_equal(exported->flags, 1);
  exported->deleter(exported);
  DLManagedTensor* unversioned = NULL;
  CHECK_FAILS(maxBufferToDlpackUnversioned(buffer, NULL, &unversioned), MAX_STATUS_FAILED_PRECONDITION, "read-only");
  assert_null(unversioned);
  maxBufferRelease(buffer);
  assert_int_equal(deleted, 1);
}

static void test_export_keeps_the_memory(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){4, 6});
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE, MAX_SLICE_KIND_RANGE},
                       (const int64_t[]){1, MAX_SLICE_OMITTED}, (const int64_t[]){3, MAX_SLICE_OMITTED},
                       (const int64_t[]){1, -2}, 2, &view));
  DLManagedTensorVersioned* exported = NULL;
  CHECK(maxBufferToDlpack(view, NULL, &exported));
  DLManagedTensor* unversioned = NULL;
  CHECK(maxBufferToDlpackUnversioned(view, NULL, &unversioned));
  maxBufferRelease(view);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
  assert_true(live_objects() > 0);

  assert_int_equal(exported->version.major, 1);
  assert_int_equal(exported->flags, 0);
  const DLTensor* const tensors[] = {&exported->dl_tensor, &unversioned->dl_tensor};
  for (size_t i = 0; i < COUNT_OF(tensors); ++i) {
    const DLTensor* tensor = tensors[i];
    assert_int_equal(tensor->device.device_type, 1);
    assert_int_equal(tensor->ndim, 2);
    assert_int_equal(tensor->dtype.code, 0);
    assert_int_equal(tensor->dtype.bits, 32);
    assert_int_equal(tensor->dtype.lanes, 1);
    assert_int_equal(tensor->byte_offset, 0);
    assert_memory_equal(tensor->shape, ((const int64_t[]){2, 3}), 16);
    assert_memory_equal(tensor->strides, ((const int64_t[]){6, -2}), 16);
    assert_int_equal(((const int32_t*)tensor->data)[6 - 2], 15);
  }
  exported->deleter(exported);
  unversioned->deleter(unversioned);
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

static void test_exports_wait_as_they_are_told(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxDlpackExportOptions options = MAX_DLPACK_EXPORT_OPTIONS_INIT;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  CHECK(maxStreamCreate(device, NULL, &options.stream));
  sem_t gate;
  assert_int_equal(sem_init(&gate, 0, 0), 0);
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){4});
  const int32_t value = 9;
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  CHECK(maxBufferFill(buffer, &value, sizeof value, stream));
  DLManagedTensorVersioned *unwaited = NULL, *ordered = NULL;
  options.noWait = 1;
  CHECK(maxBufferToDlpack(buffer, &options, &unwaited)); /* no wait, now or later */
  CHECK(maxStreamSynchronize(options.stream, 1000000000));
  assert_int_equal(*(const int32_t*)unwaited->dl_tensor.data, 0);
  options.noWait = 0;
  CHECK(maxBufferToDlpack(buffer, &options, &ordered)); /* the consumer's stream waits */
  CHECK_FAILS(maxStreamSynchronize(options.stream, 1000000), MAX_STATUS_DEADLINE_EXCEEDED, "");
  sem_post(&gate);
  CHECK(maxStreamSynchronize(options.stream, 0));
  assert_int_equal(*(const int32_t*)ordered->dl_tensor.data, 9);
  unwaited->deleter(unwaited);
  ordered->deleter(ordered);
  options.reserved = 1;
  CHECK_FAILS(maxBufferToDlpack(buffer, &options, &ordered), MAX_STATUS_UNIMPLEMENTED, "reserved");
  assert_null(ordered);
  maxBufferRelease(buffer);
  maxStreamRelease(stream);
  maxStreamRelease(options.stream);
  sem_destroy(&gate);
  maxDeviceRelease(device);
}

struct type_row {
  MaxDType dtype;
  uint8_t code;
};

static const struct type_row types[] = {
    {MAX_DTYPE_BOOL, 6},
    {MAX_DTYPE_FLOAT4_E2M1FN, 17},
    {MAX_DTYPE_FLOAT6_E2M3FN, 15},
    {MAX_DTYPE_FLOAT6_E3M2FN, 16},
    {MAX_DTYPE_FLOAT8_E8M0FNU, 14},
    {MAX_DTYPE_FLOAT8_E4M3FN, 10},
    {MAX_DTYPE_FLOAT8_E4M3FNUZ, 11},
    {MAX_DTYPE_FLOAT8_E5M2, 12},
    {MAX_DTYPE_FLOAT8_E5M2FNUZ, 13},
    {MAX_DTYPE_FLOAT16, 2},
    {MAX_DTYPE_BFLOAT16, 4},
    {MAX_DTYPE_FLOAT32, 2},
    {MAX_DTYPE_FLOAT64, 2},
    {MAX_DTYPE_COMPLEX64, 5},
    {MAX_DTYPE_COMPLEX128, 5},
    {MAX_DTYPE_UINT2, 1},
    {MAX_DTYPE_INT2, 0},
    {MAX_DTYPE_UINT4, 1},
    {MAX_DTYPE_INT4, 0},
    {MAX_DTYPE_UINT8, 1},
    {MAX_DTYPE_INT8, 0},
    {MAX_DTYPE_UINT16, 1},
    {MAX_DTYPE_INT16, 0},
    {MAX_DTYPE_UINT32, 1},
    {MAX_DTYPE_INT32, 0},
    {MAX_DTYPE_UINT64, 1},
    {MAX_DTYPE_INT64, 0},
};

static void test_every_dtype_goes_out_and_in(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  for (size_t i = 0; i < COUNT_OF(types); ++i) {
    MaxBuffer* buffer = new_buffer(device, types[i].dtype, 1, (const int64_t[]){7});
    DLManagedTensorVersioned* exported = NULL;
    CHECK(maxBufferToDlpack(buffer, NULL, &exported));
    assert_int_equal(exported->dl_tensor.dtype.code, types[i].code);
    assert_int_equal(exported->dl_tensor.dtype.bits, maxDTypeGetBits(types[i].dtype));
    MaxBuffer* back = NULL;
    CHECK(maxBufferFromDlpack(exported, NULL, &back));
    MaxDType dtype = info_of(back).dtype;
    assert_int_equal(dtype, types[i].dtype);
    assert_ptr_equal(data_of(back), data_of(buffer));
    maxBufferRelease(buffer);
    maxBufferRelease(back);
  }
  maxDeviceRelease(device);
}

static void check_refused(DLManagedTensorVersioned* managed, MaxStatus status, const char* text) {
  MaxBuffer* buffer = NULL;
  CHECK_FAILS(maxBufferFromDlpack(managed, NULL, &buffer), status, text);
  assert_null(buffer);
  assert_int_equal(*(int*)managed->manager_ctx, 0); /* it stays with the caller */
}

static void test_import_refuses(void** state) {
  (void)state;
  int deleted = 0;
  const DLManagedTensorVersioned good = {{1, 0}, &deleted, count_versioned, 0, strided_tensor()};
  DLManagedTensorVersioned bad = good;
  bad.version.major = 2;
  check_refused(&bad, MAX_STATUS_UNIMPLEMENTED, "version 2.0");
  bad = good;
  bad.dl_tensor.device.device_type = 2;
  check_refused(&bad, MAX_STATUS_UNAVAILABLE, "cuda:0");
  bad.dl_tensor.device.device_type = 8;
  check_refused(&bad, MAX_STATUS_UNIMPLEMENTED, "device type 8");
  bad = good;
  bad.dl_tensor.dtype.bits = 24;
  check_refused(&bad, MAX_STATUS_UNIMPLEMENTED, "24 bits");
  bad = good;
  bad.dl_tensor.dtype.lanes = 4;
  check_refused(&bad, MAX_STATUS_UNIMPLEMENTED, "4 lanes");
  bad = good;
  bad.dl_tensor.ndim = 17;
  check_refused(&bad, MAX_STATUS_INVALID_ARGUMENT, "17 dimensions");
  bad.dl_tensor.ndim = -1;
  check_refused(&bad, MAX_STATUS_INVALID_ARGUMENT, "-1 dimensions");
  bad = good;
  bad.dl_tensor.shape = NULL;
  check_refused(&bad, MAX_STATUS_INVALID_ARGUMENT, "no shape");
  bad = good;
  bad.dl_tensor.data = NULL;
  check_refused(&bad, MAX_STATUS_INVALID_ARGUMENT, "no data");
  bad = good;
  int64_t wrong[2] = {2, -3};
  bad.dl_tensor.shape = wrong;
  check_refused(&bad, MAX_STATUS_OUT_OF_RANGE, "-3");
  wrong[0] = wrong[1] = INT64_MAX;
  check_refused(&bad, MAX_STATUS_OUT_OF_RANGE, "overflow");
  bad = good;
  bad.dl_tensor.strides = wrong;
  check_refused(&bad, MAX_STATUS_OUT_OF_RANGE, "overflow");
  bad = good;
  bad.flags = 4;
  check_refused(&bad, MAX_STATUS_UNIMPLEMENTED, "padded");
  bad = good;
  bad.dl_tensor.dtype.bits = 4;
  bad.dl_tensor.dtype.code = 0;
  check_refused(&bad, MAX_STATUS_UNIMPLEMENTED, "not contiguous");

  MaxBuffer* buffer = NULL;
  CHECK_FAILS(maxBufferFromDlpack(NULL, NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT, "'tensor'");
  CHECK_FAILS(maxBufferFromDlpackUnversioned(NULL, NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT, "'tensor'");
  CHECK_FAILS(maxBufferFromDlpack(&bad, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outBuffer'");
  DLManagedTensorVersioned* exported = NULL;
  CHECK_FAILS(maxBufferToDlpack(NULL, NULL, &exported), MAX_STATUS_INVALID_ARGUMENT, "'buffer'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_import_shares_memory_until_the_last_view_goes),
      TEST(test_import_without_a_version),
      TEST(test_import_copies),
      TEST(test_read_only_flag),
      TEST(test_export_keeps_the_memory),
      TEST(test_exports_wait_as_they_are_told),
      TEST(test_every_dtype_goes_out_and_in),
      TEST(test_import_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
