/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

static void test_create(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){2, 3});
  const void* data = NULL;
  CHECK(maxBufferGetData(buffer, &data));
  assert_ptr_equal(data, data_of(buffer));
  assert_int_equal((uintptr_t)data % 64, 0);
  maxBufferRetain(buffer);
  maxBufferRelease(buffer);
  maxDeviceRelease(device); /* the buffer keeps it */
  const char* api = NULL;
  CHECK(maxDeviceGetApi(info_of(buffer).device, &api));
  assert_string_equal(api, "cpu");
  maxBufferRelease(buffer);
}

static void test_info(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){2, 3});
  MaxStream* default_stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &default_stream));
  const MaxBufferInfo info = info_of(buffer);
  assert_int_equal(info.structSize, sizeof info);
  assert_int_equal(info.validMask, 511);
  assert_int_equal(info.dtype, MAX_DTYPE_FLOAT32);
  assert_int_equal(info.rank, 2);
  assert_memory_equal(info.shape, ((const int64_t[]){2, 3}), 2 * sizeof(int64_t));
  assert_memory_equal(info.strides, ((const int64_t[]){3, 1}), 2 * sizeof(int64_t));
  assert_int_equal(info.elementCount, 6);
  assert_int_equal(info.byteCount, 24);
  assert_int_equal(info.elementSize, 4);
  assert_int_equal(info.address, (uint64_t)(uintptr_t)data_of(buffer));
  assert_ptr_equal(info.device, device);
  assert_ptr_equal(info.stream, default_stream);
  assert_int_equal(info.flags, MAX_BUFFER_FLAG_CONTIGUOUS | MAX_BUFFER_FLAG_HOST);
  /* A program that knows the first fields only. */
  MaxBufferInfo older;
  memset(&older, 0xFF, sizeof older);
  older.structSize = offsetof(MaxBufferInfo, shape);
  CHECK(maxBufferGetInfo(buffer, &older));
  assert_int_equal(older.rank, 2);
  assert_int_equal(older.elementCount, -1);
  /* Strings have no bytes. */
  MaxBuffer* strings = NULL;
  CHECK(maxBufferCreateStrings(device, (const char* const[]){"a"}, NULL, 0, NULL, &strings));
  const MaxBufferInfo of_strings = info_of(strings);
  assert_int_equal(of_strings.validMask, 511 & ~(MAX_BUFFER_INFO_BYTES | MAX_BUFFER_INFO_ADDRESS));
  assert_int_equal(of_strings.byteCount + of_strings.elementSize + of_strings.address, 0);
  assert_int_equal(of_strings.elementCount, 1);
  assert_int_equal(of_strings.flags & MAX_BUFFER_FLAG_READ_ONLY, MAX_BUFFER_FLAG_READ_ONLY);
  MaxBufferInfo wrong = {0};
  CHECK_FAILS(maxBufferGetInfo(buffer, &wrong), MAX_STATUS_INVALID_ARGUMENT, "structSize of MaxBufferInfo is 0");
  maxBufferRelease(strings);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_scalars_and_empty_buffers(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* scalar = new_buffer(device, MAX_DTYPE_INT64, 0, NULL);
  int64_t count = info_of(scalar).elementCount;
  assert_int_equal(count, 1);
  MaxBuffer* empty = new_buffer(device, MAX_DTYPE_INT64, 3, (const int64_t[]){4, 0, INT64_MAX / 8});
  count = info_of(empty).elementCount;
  assert_int_equal(count, 0);
  int32_t contiguous = has_flag(empty, MAX_BUFFER_FLAG_CONTIGUOUS);
  assert_int_equal(contiguous, 1);
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(empty, NULL, NULL, &copy));
  CHECK(maxBufferCopy(copy, 0, empty, 0, 0, NULL));
  CHECK(maxBufferFill(empty, "x", 1, NULL));
  maxBufferRelease(scalar);
  maxBufferRelease(empty);
  maxBufferRelease(copy);
  maxDeviceRelease(device);
}

static void test_every_dtype_can_be_allocated(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  for (MaxDType dtype = 1; dtype < 256; ++dtype) {
    const size_t bits = maxDTypeGetBits(dtype);
    if (bits == 0) continue;
    MaxBuffer* buffer = new_buffer(device, dtype, 1, (const int64_t[]){5});
    size_t bytes = info_of(buffer).byteCount;
    assert_int_equal(bytes, (5 * bits + 7) / 8);
    maxBufferRelease(buffer);
  }
  maxDeviceRelease(device);
}

static void test_options(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  const int64_t sizes[] = {1, 1000, 3000000};
  for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
    MaxBuffer* buffer = NULL;
    CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &sizes[i], &options, &buffer));
    const unsigned char* bytes = data_of(buffer);
    for (int64_t j = 0; j < sizes[i]; ++j) assert_int_equal(bytes[j], 0);
    maxBufferRelease(buffer);
  }
  options.zeroed = 0;
  for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    options.alignment = alignment;
    MaxBuffer* buffer = NULL;
    CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &sizes[1], &options, &buffer));
    assert_int_equal((uintptr_t)data_of(buffer) % alignment, 0);
    maxBufferRelease(buffer);
  }
  options.alignment = 0;
  options.pinned = 1;
  MaxBuffer* pinned = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &sizes[1], &options, &pinned));
  int32_t is_pinned = has_flag(pinned, MAX_BUFFER_FLAG_PINNED);
  assert_int_equal(is_pinned, 1);
  memset(data_of(pinned), 1, 1000);
  maxBufferRelease(pinned);
  maxDeviceRelease(device);
}

static void test_create_refuses(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = (MaxBuffer*)&device;
  const int64_t shape[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_FAILS(maxBufferCreate(device, 7, 1, shape, NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT, "number 7");
  assert_null(buffer);
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_STRING, 1, shape, NULL, &buffer), MAX_STATUS_UNIMPLEMENTED, "strings");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 17, shape, NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "Rank is 17");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, -1, shape, NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "Rank is -1");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 1, NULL, NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "'shape' is NULL");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 2, (const int64_t[]){2, -3}, NULL, &buffer),
              MAX_STATUS_OUT_OF_RANGE, "-3");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 2, (const int64_t[]){INT64_MAX, 2}, NULL, &buffer),
              MAX_STATUS_OUT_OF_RANGE, "overflow");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_FLOAT64, 1, (const int64_t[]){INT64_MAX}, NULL, &buffer),
              MAX_STATUS_OUT_OF_RANGE, "overflow");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 1, (const int64_t[]){INT64_MAX / 2}, NULL, &buffer),
              MAX_STATUS_RESOURCE_EXHAUSTED, "requested 4611686018427387903 bytes");
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.alignment = 48;
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 1, shape, &options, &buffer), MAX_STATUS_INVALID_ARGUMENT, "48");
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_INT8, 1, shape, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "'outBuffer' is NULL");
  maxDeviceRelease(device);
}

static void count_call(void* user_data) { ++*(int*)user_data; }

static void test_wrap(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  float values[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.release = count_call;
  options.userData = &released;
  options.strides = (const int64_t[]){1, 2};
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferWrap(device, values, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){2, 3}, &options, &buffer));
  assert_ptr_equal(data_of(buffer), values);
  int32_t contiguous = has_flag(buffer, MAX_BUFFER_FLAG_CONTIGUOUS);
  assert_int_equal(contiguous, 0);
  float value = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){1, 2}, 2, sizeof value, &value));
  assert_true(value == 5.0f);
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, NULL, NULL, NULL, NULL, 0, &view));
  maxBufferRelease(buffer);
  assert_int_equal(released, 0); /* the view holds the memory */
  maxBufferRelease(view);
  assert_int_equal(released, 1);
  maxDeviceRelease(device);
}

static void test_wrap_refuses(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  float values[4] = {0};
  int released = 0;
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.release = count_call;
  options.userData = &released;
  MaxBuffer* buffer = NULL;
  const int64_t shape[] = {2};
  CHECK_FAILS(maxBufferWrap(device, NULL, MAX_DTYPE_FLOAT32, 1, shape, &options, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "'data' is NULL");
  CHECK_FAILS(maxBufferWrap(device, (char*)values + 1, MAX_DTYPE_FLOAT32, 1, shape, &options, &buffer),
              MAX_STATUS_INVALID_ARGUMENT, "not aligned");
  CHECK_FAILS(maxBufferWrap(device, values, MAX_DTYPE_STRING, 1, shape, &options, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "string");
  CHECK_FAILS(maxBufferWrap(device, values, 5, 1, shape, &options, &buffer), MAX_STATUS_INVALID_ARGUMENT, "5");
  options.strides = (const int64_t[]){INT64_MIN};
  CHECK_FAILS(maxBufferWrap(device, values, MAX_DTYPE_FLOAT32, 1, shape, &options, &buffer), MAX_STATUS_OUT_OF_RANGE,
              "overflow");
  options.strides = (const int64_t[]){INT64_MAX / 2};
  CHECK_FAILS(maxBufferWrap(device, values, MAX_DTYPE_FLOAT32, 1, shape, &options, &buffer), MAX_STATUS_OUT_OF_RANGE,
              "overflow");
  options.strides = (const int64_t[]){2};
  CHECK_FAILS(maxBufferWrap(device, values, MAX_DTYPE_INT4, 1, shape, &options, &buffer), MAX_STATUS_UNIMPLEMENTED,
              "contiguous");
  options.reserved = 1;
  CHECK_FAILS(maxBufferWrap(device, values, MAX_DTYPE_FLOAT32, 1, shape, &options, &buffer), MAX_STATUS_UNIMPLEMENTED,
              "reserved");
  assert_int_equal(released, 0); /* what failed leaves the memory alone */
  assert_null(buffer);
  CHECK(maxBufferWrap(device, NULL, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){0}, NULL, &buffer));
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_read_only(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  int32_t values[4] = {1, 2, 3, 4};
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.readOnly = 1;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferWrap(device, values, MAX_DTYPE_INT32, 1, (const int64_t[]){4}, &options, &buffer));
  MaxBuffer* view = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_INT8, 1, (const int64_t[]){16}, &view));
  MaxBuffer* part = NULL;
  CHECK(
      maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){1}, NULL, NULL, 1, &part));
  MaxBuffer* const all[] = {buffer, view, part};
  for (size_t i = 0; i < COUNT_OF(all); ++i) {
    int32_t read_only = has_flag(all[i], MAX_BUFFER_FLAG_READ_ONLY);
    assert_int_equal(read_only, 1);
    void* data = &read_only;
    CHECK_FAILS(maxBufferGetMutableData(all[i], &data), MAX_STATUS_FAILED_PRECONDITION, "read-only");
    assert_null(data);
    CHECK_FAILS(maxBufferFill(all[i], "x", 1, NULL), MAX_STATUS_FAILED_PRECONDITION, "read-only");
    CHECK_FAILS(maxBufferMapToHost(all[i], MAX_HOST_ACCESS_WRITE, &data), MAX_STATUS_FAILED_PRECONDITION, "read-only");
    CHECK_FAILS(maxBufferCopy(all[i], 0, buffer, 0, 0, NULL), MAX_STATUS_FAILED_PRECONDITION, "read-only");
    CHECK(maxBufferMapToHost(all[i], MAX_HOST_ACCESS_READ, &data));
    CHECK(maxBufferUnmapFromHost(all[i]));
  }
  CHECK_FAILS(maxBufferWrite(buffer, (const int64_t[]){0}, 1, &values[1], 4), MAX_STATUS_FAILED_PRECONDITION,
              "int32[4] is read-only");
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(buffer, NULL, NULL, &copy));
  ((int32_t*)data_of(copy))[0] = 9;
  assert_int_equal(values[0], 1);
  maxBufferRelease(copy);
  for (size_t i = 0; i < COUNT_OF(all); ++i) maxBufferRelease(all[i]);
  maxDeviceRelease(device);
}

static void test_read_and_write_elements(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){3, 4});
  int32_t value = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){2, 1}, 2, 4, &value));
  assert_int_equal(value, 9);
  CHECK(maxBufferRead(buffer, (const int64_t[]){-1, -4}, 2, 4, &value));
  assert_int_equal(value, 8);
  value = 100;
  CHECK(maxBufferWrite(buffer, (const int64_t[]){0, 3}, 2, &value, 4));
  assert_int_equal(((int32_t*)data_of(buffer))[3], 100);
  CHECK_FAILS(maxBufferRead(buffer, (const int64_t[]){3, 0}, 2, 4, &value), MAX_STATUS_OUT_OF_RANGE,
              "Index 3 is out of range for dimension 0 of size 3");
  CHECK_FAILS(maxBufferWrite(buffer, (const int64_t[]){0, -5}, 2, &value, 4), MAX_STATUS_OUT_OF_RANGE,
              "Index -5 is out of range for dimension 1 of size 4");
  CHECK_FAILS(maxBufferRead(buffer, (const int64_t[]){0}, 1, 4, &value), MAX_STATUS_INVALID_ARGUMENT,
              "Number of indices (1)");
  CHECK_FAILS(maxBufferRead(buffer, (const int64_t[]){0, 0}, 2, 8, &value), MAX_STATUS_INVALID_ARGUMENT, "not 8");
  CHECK_FAILS(maxBufferRead(buffer, NULL, 2, 4, &value), MAX_STATUS_INVALID_ARGUMENT, "'indices' is NULL");
  maxBufferRelease(buffer);

  MaxBuffer* scalar = new_buffer(device, MAX_DTYPE_INT32, 0, NULL);
  CHECK(maxBufferWrite(scalar, NULL, 0, &value, 4));
  int32_t again = 0;
  CHECK(maxBufferRead(scalar, NULL, 0, 4, &again));
  assert_int_equal(again, value);
  maxBufferRelease(scalar);
  maxDeviceRelease(device);
}

static void test_elements_below_8_bits(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT4, 1, (const int64_t[]){5});
  CHECK(maxBufferFill(buffer, "\0", 1, NULL));
  for (int64_t i = 0; i < 5; ++i) {
    const unsigned char value = (unsigned char)(0xF0 | (3 * i + 1));
    CHECK(maxBufferWrite(buffer, &i, 1, &value, 1));
  }
  for (int64_t i = 0; i < 5; ++i) {
    unsigned char value = 0;
    CHECK(maxBufferRead(buffer, &i, 1, 1, &value));
    assert_int_equal(value, 3 * i + 1);
  }
  assert_memory_equal(data_of(buffer), "\x41\xA7\x0D", 3);
  MaxBuffer* pairs = new_buffer(device, MAX_DTYPE_INT2, 1, (const int64_t[]){7});
  CHECK(maxBufferFill(pairs, "\xFF", 1, NULL));
  const unsigned char one = 1;
  CHECK(maxBufferWrite(pairs, (const int64_t[]){5}, 1, &one, 1));
  assert_memory_equal(data_of(pairs), "\xFF\xF7", 2);
  /* Elements of 6 bits lie across bytes. */
  MaxBuffer* sixes = new_buffer(device, MAX_DTYPE_FLOAT6_E3M2FN, 1, (const int64_t[]){5});
  size_t bytes = info_of(sixes).byteCount;
  assert_int_equal(bytes, 4);
  CHECK(maxBufferFill(sixes, "\xFF", 1, NULL));
  for (int64_t i = 0; i < 5; ++i) {
    const unsigned char value = (unsigned char)(7 * i + 2);
    CHECK(maxBufferWrite(sixes, &i, 1, &value, 1));
  }
  for (int64_t i = 0; i < 5; ++i) {
    unsigned char value = 0;
    CHECK(maxBufferRead(sixes, &i, 1, 1, &value));
    assert_int_equal(value, 7 * i + 2);
  }
  assert_memory_equal(data_of(sixes), "\x42\x02\x5D\xDE", 4);
  maxBufferRelease(sixes);
  maxBufferRelease(pairs);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_view(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){3, 4});
  MaxBuffer* view = NULL;
  const int64_t* dims = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_INT32, 3, (const int64_t[]){2, -1, 3}, &view));
  dims = info_of(view).shape;
  assert_memory_equal(dims, ((const int64_t[]){2, 2, 3}), 24);
  assert_ptr_equal(data_of(view), data_of(buffer));
  maxBufferRelease(view);
  CHECK(maxBufferView(buffer, MAX_DTYPE_UINT16, -1, NULL, &view));
  dims = info_of(view).shape;
  assert_memory_equal(dims, ((const int64_t[]){3, 8}), 16);
  maxBufferRelease(view);
  CHECK(maxBufferView(buffer, MAX_DTYPE_FLOAT64, -1, NULL, &view));
  dims = info_of(view).shape;
  assert_memory_equal(dims, ((const int64_t[]){3, 2}), 16);
  maxBufferRelease(view);
  CHECK(maxBufferView(buffer, MAX_DTYPE_INT4, -1, NULL, &view));
  dims = info_of(view).shape;
  assert_memory_equal(dims, ((const int64_t[]){3, 32}), 16);
  maxBufferRelease(view);

  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_COMPLEX128, 1, (const int64_t[]){4}, &view), MAX_STATUS_INVALID_ARGUMENT,
              "64 bytes");
  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_INT32, 2, (const int64_t[]){-1, -1}, &view), MAX_STATUS_INVALID_ARGUMENT,
              "more than one");
  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_INT32, 2, (const int64_t[]){-1, 5}, &view), MAX_STATUS_INVALID_ARGUMENT,
              "cannot be deduced");
  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_INT32, 2, (const int64_t[]){-1, 0}, &view), MAX_STATUS_INVALID_ARGUMENT,
              "cannot be deduced");
  CHECK_FAILS(maxBufferView(buffer, 3, 1, (const int64_t[]){12}, &view), MAX_STATUS_INVALID_ARGUMENT, "number 3");
  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_INT32, 1, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "'shape' is NULL");
  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_INT32, 0, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "has 4 bytes");
  CHECK_FAILS(maxBufferView(buffer, MAX_DTYPE_INT32, -2, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "Rank is -2");
  assert_null(view);
  maxBufferRelease(buffer);

  MaxBuffer* odd = new_buffer(device, MAX_DTYPE_INT8, 1, (const int64_t[]){9});
  CHECK_FAILS(maxBufferView(odd, MAX_DTYPE_INT16, -1, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "whole elements");
  MaxBuffer* tail = NULL;
  CHECK(maxBufferSlice(odd, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){1}, NULL, NULL, 1, &tail));
  CHECK_FAILS(maxBufferView(tail, MAX_DTYPE_INT64, -1, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "not aligned");
  maxBufferRelease(tail);
  CHECK(maxBufferSlice(odd, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){MAX_SLICE_OMITTED}, NULL,
                       (const int64_t[]){2}, 1, &tail));
  CHECK_FAILS(maxBufferView(tail, MAX_DTYPE_UINT8, -1, NULL, &view), MAX_STATUS_FAILED_PRECONDITION, "not contiguous");
  maxBufferRelease(tail);
  maxBufferRelease(odd);
  MaxBuffer* scalar = new_buffer(device, MAX_DTYPE_INT32, 0, NULL);
  CHECK_FAILS(maxBufferView(scalar, MAX_DTYPE_INT8, -1, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "scalar");
  maxBufferRelease(scalar);
  maxDeviceRelease(device);
}

static void test_map_to_host(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){4});
  void* data = NULL;
  CHECK(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE, &data));
  ((int32_t*)data)[2] = 50;
  void* second = buffer;
  CHECK_FAILS(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ, &second), MAX_STATUS_FAILED_PRECONDITION, "mapped");
  assert_null(second);
  CHECK(maxBufferUnmapFromHost(buffer));
  CHECK_FAILS(maxBufferUnmapFromHost(buffer), MAX_STATUS_FAILED_PRECONDITION, "not mapped");
  int32_t value = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){2}, 1, 4, &value));
  assert_int_equal(value, 50);
  CHECK_FAILS(maxBufferMapToHost(buffer, 0, &data), MAX_STATUS_INVALID_ARGUMENT,
              "Host access is 0; it must be READ (1), WRITE (2) or both");
  CHECK_FAILS(maxBufferMapToHost(buffer, 4, &data), MAX_STATUS_INVALID_ARGUMENT, "Host access is 4");
  MaxBuffer* strided = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){0}, NULL,
                       (const int64_t[]){2}, 1, &strided));
  CHECK_FAILS(maxBufferMapToHost(strided, MAX_HOST_ACCESS_READ, &data), MAX_STATUS_FAILED_PRECONDITION,
              "not contiguous");
  maxBufferRelease(strided);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_null_arguments(void** state) {
  (void)state;
  MaxBuffer* buffer = NULL;
  const int32_t number = 0;
  int64_t wide = 0;
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  const void* data = NULL;
  void* mutable_data = NULL;
  const MaxStatus statuses[] = {
      maxBufferGetInfo(NULL, &info),
      maxBufferGetStrings(NULL, 0, 0, NULL, NULL),
      maxBufferCopyFromHost(NULL, 0, &wide, 0, NULL),
      maxBufferCopyToHost(NULL, 0, &wide, 0, NULL),
      maxBufferGetData(NULL, &data),
      maxBufferGetMutableData(NULL, &mutable_data),
      maxBufferSlice(NULL, NULL, NULL, NULL, NULL, 0, &buffer),
      maxBufferView(NULL, MAX_DTYPE_INT8, -1, NULL, &buffer),
      maxBufferContiguous(NULL, NULL, &buffer),
      maxBufferClone(NULL, NULL, NULL, &buffer),
      maxBufferTo(NULL, NULL, NULL, &buffer),
      maxBufferCopy(NULL, 0, NULL, 0, 0, NULL),
      maxMemoryCopy(&wide, &number, 4, MAX_COPY_KIND_HOST_TO_HOST, NULL),
      maxBufferFill(NULL, "x", 1, NULL),
      maxBufferMapToHost(NULL, MAX_HOST_ACCESS_READ, &mutable_data),
      maxBufferUnmapFromHost(NULL),
      maxBufferRead(NULL, NULL, 0, 8, &wide),
      maxBufferWrite(NULL, NULL, 0, &wide, 8),
  };
  for (size_t i = 0; i < COUNT_OF(statuses); ++i) assert_int_equal(statuses[i], MAX_STATUS_INVALID_ARGUMENT);
  maxBufferRetain(NULL);
  maxBufferRelease(NULL);
}

static void test_null_outputs(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 0, NULL);
  const MaxStatus without_output[] = {
      maxBufferGetInfo(buffer, NULL),
      maxBufferCopyFromHost(buffer, 0, NULL, 1, NULL),
      maxBufferCopyToHost(buffer, 0, NULL, 1, NULL),
      maxBufferGetData(buffer, NULL),
      maxBufferGetMutableData(buffer, NULL),
      maxBufferSlice(buffer, NULL, NULL, NULL, NULL, 0, NULL),
      maxBufferView(buffer, MAX_DTYPE_INT8, -1, NULL, NULL),
      maxBufferContiguous(buffer, NULL, NULL),
      maxBufferClone(buffer, NULL, NULL, NULL),
      maxBufferTo(buffer, device, NULL, NULL),
      maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ, NULL),
      maxBufferRead(buffer, NULL, 0, 4, NULL),
      maxBufferWrite(buffer, NULL, 0, NULL, 4),
      maxBufferFill(buffer, NULL, 4, NULL),
  };
  for (size_t i = 0; i < COUNT_OF(without_output); ++i)
    assert_int_equal(without_output[i], MAX_STATUS_INVALID_ARGUMENT);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_create),
      TEST(test_info),
      TEST(test_scalars_and_empty_buffers),
      TEST(test_every_dtype_can_be_allocated),
      TEST(test_options),
      TEST(test_create_refuses),
      TEST(test_wrap),
      TEST(test_wrap_refuses),
      TEST(test_read_only),
      TEST(test_read_and_write_elements),
      TEST(test_elements_below_8_bits),
      TEST(test_view),
      TEST(test_map_to_host),
      TEST(test_null_arguments),
      TEST(test_null_outputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
