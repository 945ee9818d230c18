/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

static MaxBuffer* every_second_column(MaxBuffer* buffer) {
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_ELLIPSIS, MAX_SLICE_KIND_RANGE},
                       (const int64_t[]){0, MAX_SLICE_OMITTED}, NULL, (const int64_t[]){1, 2}, 2, &view));
  return view;
}

static void check_values(const MaxBuffer* buffer, const int32_t* expected, size_t count) {
  const void* data = NULL;
  CHECK(maxBufferGetData(buffer, &data));
  assert_memory_equal(data, expected, count * sizeof *expected);
}

static void test_clone_and_contiguous(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){2, 4});
  MaxBuffer* strided = every_second_column(buffer);
  MaxBuffer* copies[3] = {NULL, NULL, NULL};
  CHECK(maxBufferClone(strided, NULL, NULL, &copies[0]));
  CHECK(maxBufferClone(strided, device, NULL, &copies[1]));
  CHECK(maxBufferContiguous(strided, NULL, &copies[2]));
  ((int32_t*)data_of(buffer))[0] = 77;
  for (size_t i = 0; i < COUNT_OF(copies); ++i) {
    check_values(copies[i], (const int32_t[]){0, 2, 4, 6}, 4);
    maxBufferRelease(copies[i]);
  }
  CHECK(maxBufferContiguous(buffer, NULL, &copies[0])); /* always new memory */
  assert_ptr_not_equal(data_of(copies[0]), data_of(buffer));
  maxBufferRelease(copies[0]);
  maxBufferRelease(strided);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/* Every element size, with reversed and permuted dimensions. */
static void test_strided_copies_of_every_size(void** state) {
  (void)state;
  static const MaxDType types[] = {MAX_DTYPE_UINT8, MAX_DTYPE_FLOAT16, MAX_DTYPE_INT32, MAX_DTYPE_COMPLEX64,
                                   MAX_DTYPE_COMPLEX128};
  MaxDevice* device = open_cpu();
  unsigned char source[3 * 4 * 5 * 16];
  for (size_t i = 0; i < sizeof source; ++i) source[i] = (unsigned char)(i * 7 + 3);
  for (size_t t = 0; t < COUNT_OF(types); ++t) {
    const size_t size = maxDTypeGetSize(types[t]);
    MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
    options.strides = (const int64_t[]){1, -15, 5}; /* shape (5, 4, 3), second dimension reversed */
    MaxBuffer* view = NULL;
    CHECK(maxBufferWrap(device, source + 45 * size, types[t], 3, (const int64_t[]){5, 4, 3}, &options, &view));
    MaxBuffer* copy = NULL;
    CHECK(maxBufferClone(view, NULL, NULL, &copy));
    const unsigned char* bytes = data_of(copy);
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 4; ++b)
        for (int c = 0; c < 3; ++c)
          assert_memory_equal(bytes + (size_t)(a * 12 + b * 3 + c) * size,
                              source + (size_t)(45 + a - 15 * b + 5 * c) * size, size);
    maxBufferRelease(copy);
    maxBufferRelease(view);
  }
  maxDeviceRelease(device);
}

static void test_to(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){3});
  MaxBuffer* same = NULL;
  CHECK(maxBufferTo(buffer, device, NULL, &same));
  assert_ptr_equal(same, buffer);
  maxBufferRelease(same);
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = stream;
  CHECK(maxBufferTo(buffer, NULL, &options, &same));
  assert_ptr_equal(same, buffer);
  maxBufferRelease(same);
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(buffer, NULL, &options, &copy));
  MaxStream* bound = info_of(copy).stream;
  assert_ptr_equal(bound, stream);
  CHECK(maxStreamSynchronize(stream, 0));
  check_values(copy, (const int32_t[]){0, 1, 2}, 3);
  maxStreamRelease(stream); /* the copy keeps it */
  int32_t value = 0;
  CHECK(maxBufferRead(copy, (const int64_t[]){2}, 1, 4, &value));
  assert_int_equal(value, 2);
  maxBufferRelease(copy);
  CHECK(maxBufferTo(buffer, NULL, NULL, &same)); /* the host, where it is */
  assert_ptr_equal(same, buffer);
  maxBufferRelease(same);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_ranged_copies(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* source = new_counting(device, 1, (const int64_t[]){8});
  MaxBuffer* target = new_counting(device, 1, (const int64_t[]){8});
  CHECK(maxBufferFill(target, "\0\0\0\0", 4, NULL));
  CHECK(maxBufferCopy(target, 4, source, 20, 12, NULL));
  check_values(target, (const int32_t[]){0, 5, 6, 7, 0, 0, 0, 0}, 8);
  CHECK(maxBufferCopy(target, 32, source, 32, 0, NULL));
  CHECK_FAILS(maxBufferCopy(target, 33, source, 0, 0, NULL), MAX_STATUS_OUT_OF_RANGE, "Range of 'dst'");
  CHECK_FAILS(maxBufferCopy(target, 28, source, 0, 5, NULL), MAX_STATUS_OUT_OF_RANGE, "Range of 'dst'");
  CHECK_FAILS(maxBufferCopy(target, 0, source, 1, 32, NULL), MAX_STATUS_OUT_OF_RANGE, "Range of 'src'");
  CHECK_FAILS(maxBufferCopy(target, 0, source, SIZE_MAX, 2, NULL), MAX_STATUS_OUT_OF_RANGE, "Range of 'src'");
  CHECK(maxBufferCopy(source, 0, source, 16, 16, NULL));
  check_values(source, (const int32_t[]){4, 5, 6, 7, 4, 5, 6, 7}, 8);
  CHECK_FAILS(maxBufferCopy(source, 0, source, 8, 12, NULL), MAX_STATUS_INVALID_ARGUMENT, "overlap");
  MaxBuffer* strided = every_second_column(source);
  CHECK_FAILS(maxBufferCopy(target, 0, strided, 0, 4, NULL), MAX_STATUS_FAILED_PRECONDITION,
              "'src' of type int32[4] is not contiguous");
  CHECK_FAILS(maxBufferCopy(strided, 0, target, 0, 4, NULL), MAX_STATUS_FAILED_PRECONDITION, "'dst'");
  CHECK_FAILS(maxBufferCopy(target, 0, NULL, 0, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "'src' is NULL");
  maxBufferRelease(strided);
  maxBufferRelease(source);
  maxBufferRelease(target);
  maxDeviceRelease(device);
}

static void test_memory_copy(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &stream));
  const int32_t source[4] = {1, 2, 3, 4};
  int32_t target[4] = {0};
  for (MaxCopyKind kind = MAX_COPY_KIND_HOST_TO_HOST; kind <= MAX_COPY_KIND_DEVICE_TO_DEVICE; ++kind) {
    memset(target, 0, sizeof target);
    CHECK(maxMemoryCopy(target, source, sizeof source, kind, stream));
    assert_memory_equal(target, source, sizeof source);
  }
  CHECK(maxMemoryCopy(NULL, NULL, 0, MAX_COPY_KIND_HOST_TO_HOST, stream));
  CHECK_FAILS(maxMemoryCopy(NULL, source, 4, MAX_COPY_KIND_HOST_TO_HOST, stream), MAX_STATUS_INVALID_ARGUMENT, "'dst'");
  CHECK_FAILS(maxMemoryCopy(target, NULL, 4, MAX_COPY_KIND_HOST_TO_HOST, stream), MAX_STATUS_INVALID_ARGUMENT, "'src'");
  CHECK_FAILS(maxMemoryCopy(target, source, 4, 4, stream), MAX_STATUS_INVALID_ARGUMENT,
              "Copy kind is 4; it must be 0 to 3");
  CHECK_FAILS(maxMemoryCopy(target, target + 1, 8, MAX_COPY_KIND_HOST_TO_HOST, stream), MAX_STATUS_INVALID_ARGUMENT,
              "overlap");
  maxDeviceRelease(device);
}

static void test_copies_from_and_to_the_host(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){6});
  MaxStream* const orders[] = {NULL, stream};
  for (size_t i = 0; i < COUNT_OF(orders); ++i) {
    const int32_t given[] = {50 + (int32_t)i, 60};
    int32_t got[3] = {0};
    CHECK(maxBufferCopyFromHost(buffer, 8, given, sizeof given, orders[i]));
    CHECK(maxBufferCopyToHost(buffer, 4, got, sizeof got, orders[i]));
    assert_memory_equal(got, ((const int32_t[]){1, 50 + (int32_t)i, 60}), sizeof got);
  }
  CHECK(maxBufferCopyFromHost(buffer, 24, NULL, 0, NULL));
  CHECK(maxBufferCopyToHost(buffer, 24, NULL, 0, NULL));
  int32_t value = 0;
  CHECK_FAILS(maxBufferCopyFromHost(buffer, 21, &value, 4, NULL), MAX_STATUS_OUT_OF_RANGE,
              "Range of 'dst' [21, 21 + 4) ends past its 24 bytes");
  CHECK_FAILS(maxBufferCopyToHost(buffer, 25, &value, 0, NULL), MAX_STATUS_OUT_OF_RANGE, "Range of 'src'");
  CHECK_FAILS(maxBufferCopyFromHost(buffer, 0, NULL, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "'src' is NULL");
  CHECK_FAILS(maxBufferCopyToHost(buffer, 0, NULL, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "'dst' is NULL");
  CHECK_FAILS(maxBufferCopyToHost(buffer, 0, data_of(buffer), 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "overlap");
  MaxBuffer* pairs = new_counting(device, 2, (const int64_t[]){2, 4});
  MaxBuffer* strided = every_second_column(pairs);
  CHECK_FAILS(maxBufferCopyFromHost(strided, 0, &value, 4, NULL), MAX_STATUS_FAILED_PRECONDITION, "not contiguous");
  CHECK_FAILS(maxBufferCopyToHost(strided, 0, &value, 4, NULL), MAX_STATUS_FAILED_PRECONDITION, "not contiguous");
  MaxBuffer* strings = NULL;
  CHECK(maxBufferCreateStrings(device, (const char* const[]){"a"}, NULL, 0, NULL, &strings));
  CHECK_FAILS(maxBufferCopyFromHost(strings, 0, &value, 4, NULL), MAX_STATUS_FAILED_PRECONDITION, "read-only");
  CHECK_FAILS(maxBufferCopyToHost(strings, 0, &value, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "strings");
  maxBufferRelease(strings);
  maxBufferRelease(strided);
  maxBufferRelease(pairs);
  maxBufferRelease(buffer);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void test_fill(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  static const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  static const int64_t counts[] = {1, 2, 3, 511, 512, 513, 5000};
  for (size_t i = 0; i < COUNT_OF(counts); ++i)
    for (size_t size = 1; size <= 16; size *= 2) {
      const int64_t bytes = counts[i] * (int64_t)size;
      MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, &bytes);
      CHECK(maxBufferFill(buffer, pattern, size, NULL));
      const unsigned char* data = data_of(buffer);
      for (int64_t j = 0; j < bytes; ++j) assert_int_equal(data[j], pattern[(size_t)j % size]);
      maxBufferRelease(buffer);
    }
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){2, 3});
  MaxBuffer* strided = every_second_column(buffer);
  const int32_t value = -1;
  CHECK(maxBufferFill(strided, &value, 4, NULL));
  check_values(buffer, (const int32_t[]){-1, 1, -1, -1, 4, -1}, 6);
  CHECK_FAILS(maxBufferFill(strided, &value, 2, NULL), MAX_STATUS_INVALID_ARGUMENT, "not contiguous");
  CHECK_FAILS(maxBufferFill(buffer, pattern, 3, NULL), MAX_STATUS_INVALID_ARGUMENT, "Size of a pattern is 3");
  CHECK_FAILS(maxBufferFill(buffer, pattern, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "is 0");
  CHECK_FAILS(maxBufferFill(buffer, pattern, 32, NULL), MAX_STATUS_INVALID_ARGUMENT, "it must be 1, 2, 4, 8 or 16");
  MaxBuffer* odd = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){6});
  CHECK_FAILS(maxBufferFill(odd, pattern, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "does not divide the 6 bytes");
  maxBufferRelease(odd);
  maxBufferRelease(strided);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_clone_and_contiguous),
      TEST(test_strided_copies_of_every_size),
      TEST(test_to),
      TEST(test_ranged_copies),
      TEST(test_memory_copy),
      TEST(test_copies_from_and_to_the_host),
      TEST(test_fill),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
