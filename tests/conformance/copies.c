/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, fills and views. */
#include "conformance.h"
#include "fake_driver.h"

enum { COPY_SIZE = 70000 };

static void counting_bytes(unsigned char* bytes, size_t size, unsigned first) {
  for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)(first + i * 7 + i / 251);
}

/* Host to device, within the device, and back, through addresses with offsets. */
static void round_trip(MaxStream* stream, const MaxBuffer* buffers[2], unsigned char* host, unsigned char* back,
                       size_t offset, size_t size) {
  unsigned char* first = (unsigned char*)address_of(buffers[0]) + offset;
  unsigned char* second = (unsigned char*)address_of(buffers[1]) + offset / 2;
  counting_bytes(host, size, (unsigned)offset);
  memset(back, 0, size);
  CHECK(maxMemoryCopy(first, host, size, MAX_COPY_KIND_HOST_TO_DEVICE, stream));
  CHECK(maxMemoryCopy(second, first, size, MAX_COPY_KIND_DEVICE_TO_DEVICE, stream));
  CHECK(maxMemoryCopy(back, second, size, MAX_COPY_KIND_DEVICE_TO_HOST, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_memory_equal(host, back, size);
}

void test_copies_of_every_kind(void** state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 3, 64, 4097, COPY_SIZE};
  static const size_t offsets[] = {0, 1, 2, 64, 1000};
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxStream* default_stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &default_stream));
  const int64_t shape[] = {COPY_SIZE + 1000};
  MaxBuffer* a = new_buffer(device, MAX_DTYPE_UINT8, 1, shape);
  MaxBuffer* b = new_buffer(device, MAX_DTYPE_UINT8, 1, shape);
  void* pinned = NULL;
  CHECK(maxHostAllocate(device, COPY_SIZE, &pinned));
  static unsigned char host[COPY_SIZE];
  static unsigned char back[COPY_SIZE];
  for (size_t s = 0; s < COUNT_OF(sizes); ++s)
    for (size_t o = 0; o < COUNT_OF(offsets); ++o) {
      const MaxBuffer* buffers[2] = {a, b};
      round_trip(stream, buffers, host, back, offsets[o], sizes[s]);
      round_trip(stream, buffers, pinned, back, offsets[o], sizes[s]);
      round_trip(default_stream, buffers, host, pinned, offsets[o], sizes[s]);
    }
  CHECK(maxMemoryCopy(back, host, 100, MAX_COPY_KIND_HOST_TO_HOST, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_memory_equal(host, back, 100);
  CHECK_FAILS(maxMemoryCopy(NULL, host, 1, MAX_COPY_KIND_HOST_TO_DEVICE, stream), MAX_STATUS_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(maxMemoryCopy(address_of(a), host, 1, 4, stream), MAX_STATUS_INVALID_ARGUMENT, "4");
  CHECK_FAILS(maxMemoryCopy((void*)(UINTPTR_MAX - 3), host, 5, MAX_COPY_KIND_HOST_TO_DEVICE, stream),
              MAX_STATUS_INVALID_ARGUMENT, "last address");
  CHECK_FAILS(maxMemoryCopy(host, address_of(a), SIZE_MAX, MAX_COPY_KIND_DEVICE_TO_HOST, stream),
              MAX_STATUS_INVALID_ARGUMENT, "last address");
  CHECK(maxHostFree(device, pinned));
  maxBufferRelease(a);
  maxBufferRelease(b);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

void test_copies_between_buffers(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  unsigned char expected[1000];
  unsigned char values[1000];
  counting_bytes(values, sizeof values, 5);
  memset(expected, 9, sizeof expected);
  const int64_t shape[] = {1000};
  MaxBuffer* source = upload(device, MAX_DTYPE_UINT8, 1, shape, values);
  MaxBuffer* target = upload(device, MAX_DTYPE_UINT8, 1, shape, expected);
  CHECK(maxBufferCopy(target, 3, source, 501, 499, stream));
  memcpy(expected + 3, values + 501, 499);
  CHECK(maxBufferCopy(target, 999, source, 0, 1, stream));
  expected[999] = values[0];
  CHECK(maxBufferCopy(target, 1000, source, 1000, 0, stream));
  CHECK(maxBufferCopy(source, 0, source, 500, 500, stream)); /* within a buffer */
  CHECK(maxStreamSynchronize(stream, 0));
  check_content(target, expected, sizeof expected);
  memcpy(values, values + 500, 500);
  check_content(source, values, sizeof values);
  CHECK_FAILS(maxBufferCopy(target, 1, source, 0, 1000, stream), MAX_STATUS_OUT_OF_RANGE, "1000");
  CHECK_FAILS(maxBufferCopy(target, 0, source, SIZE_MAX, 2, stream), MAX_STATUS_OUT_OF_RANGE, "");
  CHECK_FAILS(maxBufferCopy(source, 0, source, 10, 11, stream), MAX_STATUS_INVALID_ARGUMENT, "overlap");
  maxBufferRelease(source);
  maxBufferRelease(target);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

void test_fills(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  static const unsigned char pattern[16] = {1, 2, 3, 4, 250, 251, 252, 253, 9, 8, 7, 6, 5, 4, 3, 2};
  unsigned char expected[4096];
  for (size_t size = 1; size <= 16; size *= 2) {
    for (int64_t count = 64; count <= (int64_t)sizeof expected; count *= 8) {
      MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, &count);
      CHECK(maxBufferFill(buffer, pattern, size, stream));
      CHECK(maxStreamSynchronize(stream, 0));
      for (size_t i = 0; i < (size_t)count; ++i) expected[i] = pattern[i % size];
      check_content(buffer, expected, (size_t)count);
      maxBufferRelease(buffer);
    }
  }
  MaxBuffer* odd = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){7});
  CHECK_FAILS(maxBufferFill(odd, pattern, 2, stream), MAX_STATUS_INVALID_ARGUMENT, "7");
  CHECK_FAILS(maxBufferFill(odd, pattern, 3, stream), MAX_STATUS_INVALID_ARGUMENT, "3");
  maxBufferRelease(odd);
  MaxBuffer* empty = new_buffer(device, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){0, 5});
  CHECK(maxBufferFill(empty, pattern, 4, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  maxBufferRelease(empty);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

static void check_host_copies(MaxBuffer* buffer, MaxStream* stream) {
  unsigned char given[900], got[1000], expected[1000];
  counting_bytes(given, sizeof given, 11);
  memset(expected, 7, sizeof expected);
  memcpy(expected + 33, given, sizeof given);
  const unsigned char filling = 7;
  CHECK(maxBufferFill(buffer, &filling, 1, stream));
  CHECK(maxBufferCopyFromHost(buffer, 33, given, sizeof given, stream));
  memset(given, 0, sizeof given); /* it has been copied */
  CHECK(maxBufferCopyToHost(buffer, 0, got, sizeof got, stream));
  assert_memory_equal(got, expected, sizeof got);
  CHECK(maxBufferCopyToHost(buffer, 34, got, 1, stream));
  assert_int_equal(got[0], expected[34]);
}

/* No synchronization: the calls themselves return when all data is there. */
void test_copies_from_and_to_the_host(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  for (int32_t kind = 0; kind < 4; ++kind) {
    MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
    options.pinned = kind & 1;
    options.stream = kind & 2 ? stream : NULL;
    MaxBuffer* buffer = NULL;
    CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000}, &options, &buffer));
    check_host_copies(buffer, NULL);
    check_host_copies(buffer, info_of(buffer).stream);
    maxBufferRelease(buffer);
  }
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* Every second element of each row, the rows from the last one: [::-1, 1::2]. */
static MaxBuffer* slice_of(const MaxBuffer* buffer) {
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE, MAX_SLICE_KIND_RANGE},
                       (const int64_t[]){MAX_SLICE_OMITTED, 1}, NULL, (const int64_t[]){-1, 2}, 2, &view));
  return view;
}

enum { ROWS = 5, COLUMNS = 8 };

static void test_strided_type(MaxDevice* device, MaxDevice* host, MaxStream* stream, MaxDType dtype) {
  const size_t size = maxDTypeGetSize(dtype);
  unsigned char values[ROWS * COLUMNS * 16];
  unsigned char dense[ROWS * COLUMNS / 2 * 16];
  counting_bytes(values, sizeof values, 1);
  for (size_t row = 0; row < ROWS; ++row)
    for (size_t column = 0; column < COLUMNS / 2; ++column)
      memcpy(dense + (row * COLUMNS / 2 + column) * size, values + ((ROWS - 1 - row) * COLUMNS + 1 + 2 * column) * size,
             size);
  const size_t dense_size = ROWS * COLUMNS / 2 * size;
  MaxBuffer* buffer = upload(device, dtype, 2, (const int64_t[]){ROWS, COLUMNS}, values);
  MaxBuffer* view = slice_of(buffer);
  MaxBuffer* here = clone_on(view, NULL, stream);
  MaxBuffer* there = NULL;
  CHECK(maxStreamSynchronize(stream, 0));
  check_content(here, dense, dense_size);
  CHECK(maxBufferClone(view, host, NULL, &there)); /* strided, to the host */
  CHECK(maxDeviceSynchronize(device, 0));
  CHECK(maxDeviceSynchronize(host, 0));
  check_content(there, dense, dense_size);
  maxBufferRelease(here);
  maxBufferRelease(there);
  MaxBuffer* on_host = upload(host, dtype, 2, (const int64_t[]){ROWS, COLUMNS}, values);
  MaxBuffer* host_view = slice_of(on_host);
  here = clone_on(host_view, device, stream); /* strided, from the host */
  CHECK(maxStreamSynchronize(stream, 0));
  check_content(here, dense, dense_size);
  maxBufferRelease(here);
  maxBufferRelease(host_view);
  maxBufferRelease(on_host);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
}

void test_strided_copies(void** state) {
  (void)state;
  static const MaxDType types[] = {MAX_DTYPE_UINT8, MAX_DTYPE_FLOAT16, MAX_DTYPE_FLOAT32, MAX_DTYPE_INT64,
                                   MAX_DTYPE_COMPLEX128};
  MaxDevice* device = open_device();
  MaxDevice* host = open_cpu();
  MaxStream* stream = new_stream(device);
  for (size_t i = 0; i < COUNT_OF(types); ++i) test_strided_type(device, host, stream, types[i]);
  /* a strided view is filled, and what lies between its elements stays */
  int32_t values[ROWS * COLUMNS];
  for (int32_t i = 0; i < ROWS * COLUMNS; ++i) values[i] = i;
  MaxBuffer* buffer = upload(device, MAX_DTYPE_INT32, 2, (const int64_t[]){ROWS, COLUMNS}, values);
  MaxBuffer* view = slice_of(buffer);
  const int32_t filling = -77;
  CHECK(maxBufferFill(view, &filling, sizeof filling, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  for (int32_t i = 0; i < ROWS * COLUMNS; ++i)
    if (i % 2) values[i] = filling;
  check_content(buffer, values, sizeof values);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
  maxStreamRelease(stream);
  maxDeviceRelease(host);
  maxDeviceRelease(device);
}

enum { SIDE = 100, OUTER = SIDE + 1, DEEP = 3 };

/* [::-1, :SIDE, :SIDE, 1:]: a million rows of two bytes with gaps all around. */
static MaxBuffer* rows_of(const MaxBuffer* buffer) {
  const MaxSliceKind range = MAX_SLICE_KIND_RANGE;
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){range, range, range, range}, (const int64_t[]){-2, 0, 0, 1},
                       (const int64_t[]){MAX_SLICE_OMITTED, SIDE, SIDE, DEEP}, (const int64_t[]){-1, 1, 1, 1}, 4,
                       &view));
  return view;
}

static void gather_rows(const unsigned char* values, unsigned char* rows) {
  for (size_t i = 0; i < SIDE; ++i)
    for (size_t j = 0; j < SIDE; ++j)
      for (size_t k = 0; k < SIDE; ++k, rows += 2)
        memcpy(rows, values + (((SIDE - 1 - i) * OUTER + j) * OUTER + k) * DEEP + 1, 2);
}

/* However many rows there are, the driver gets little to do: that is for kernels. */
void test_strided_copies_of_many_rows(void** state) {
  (void)state;
  const size_t size = (size_t)OUTER * OUTER * OUTER * DEEP, dense_size = (size_t)SIDE * SIDE * SIDE * 2;
  struct fake_driver driver;
  const bool is_fake = find_fake_driver(device_api, &driver) != 0;
  unsigned char *values = malloc(size), *expected = malloc(dense_size);
  assert_true(values && expected);
  counting_bytes(values, size, 3);
  gather_rows(values, expected);
  MaxDevice* device = open_device();
  MaxBuffer* buffer = upload(device, MAX_DTYPE_UINT8, 4, (const int64_t[]){OUTER, OUTER, OUTER, DEEP}, values);
  MaxBuffer* view = rows_of(buffer);
  MaxStream* stream = info_of(buffer).stream;
  maxBufferRelease(clone_on(view, NULL, stream)); /* what is made once is made */
  const int64_t before = is_fake ? driver.count(FAKE_GPU_QUEUED) : 0;
  MaxBuffer* dense = clone_on(view, NULL, stream);
  if (is_fake) assert_in_range(driver.count(FAKE_GPU_QUEUED) - before, 1, 3);
  check_content(dense, expected, dense_size);
  const unsigned char filling = 200;
  CHECK(maxBufferFill(view, &filling, 1, stream));
  memset(expected, filling, dense_size);
  MaxBuffer* filled = clone_on(view, NULL, stream);
  check_content(filled, expected, dense_size);
  for (size_t i = 0; i < SIDE; ++i)
    for (size_t j = 0; j < SIDE; ++j)
      for (size_t k = 0; k < SIDE; ++k) memset(values + ((i * OUTER + j) * OUTER + k) * DEEP + 1, filling, 2);
  check_content(buffer, values, size); /* and nothing else has changed */
  maxBufferRelease(filled);
  maxBufferRelease(dense);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
  free(expected);
  free(values);
}

void test_views(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  const uint32_t values[6] = {0x3f800000u, 0x40000000u, 3, 4, 5, 6};
  MaxBuffer* buffer = upload(device, MAX_DTYPE_UINT32, 1, (const int64_t[]){6}, values);
  MaxBuffer* floats = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){3, -1}, &floats));
  float one = 0;
  CHECK(maxBufferRead(floats, (const int64_t[]){0, 1}, 2, sizeof one, &one));
  assert_true(one == 2.0f);
  const float written = 8.0f;
  CHECK(maxBufferWrite(floats, (const int64_t[]){0, 0}, 2, &written, sizeof written));
  uint32_t bits = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){0}, 1, sizeof bits, &bits));
  assert_int_equal(bits, 0x41000000);
  CHECK_FAILS(maxBufferRead(buffer, (const int64_t[]){6}, 1, sizeof bits, &bits), MAX_STATUS_OUT_OF_RANGE, "6");
  maxBufferRelease(buffer); /* the view keeps the memory */
  CHECK(maxBufferRead(floats, (const int64_t[]){-3, 0}, 2, sizeof one, &one));
  assert_true(one == 8.0f);
  maxBufferRelease(floats);
  maxDeviceRelease(device);
}

void test_pinned_buffers(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.pinned = 1;
  options.stream = stream;
  MaxBuffer* pinned = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){5000}, &options, &pinned));
  int32_t is_pinned = has_flag(pinned, MAX_BUFFER_FLAG_PINNED);
  assert_int_equal(is_pinned, 1);
  void* data = NULL;
  CHECK(maxBufferGetMutableData(pinned, &data)); /* the host can reach it */
  memset(data, 3, 5000);
  MaxBuffer* copy = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){5000});
  CHECK(maxBufferCopy(copy, 0, pinned, 0, 5000, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  memset(data, 0, 5000);
  CHECK(maxBufferCopy(pinned, 1, copy, 0, 4999, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(((unsigned char*)data)[0], 0);
  assert_int_equal(((unsigned char*)data)[4999], 3);
  maxBufferRelease(copy);
  maxBufferRelease(pinned);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* Through any handle of the memory, also on devices whose memory the host only sees a copy of. */
void test_mappings_belong_to_the_memory(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* stream = new_stream(device);
  const int32_t values[4] = {1, 2, 3, 4};
  const int32_t filling = 9;
  MaxBuffer* buffer = upload(device, MAX_DTYPE_INT32, 1, (const int64_t[]){4}, values);
  MaxBuffer* view = NULL;
  void* data = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_INT32, 1, (const int64_t[]){4}, &view));
  CHECK_FAILS(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_WRITE | MAX_HOST_ACCESS_EXCLUSIVE, &data),
              MAX_STATUS_FAILED_PRECONDITION, "views");
  CHECK(maxBufferMapToHost(view, MAX_HOST_ACCESS_READ, &data));
  CHECK_FAILS(maxBufferFill(buffer, &filling, 4, stream), MAX_STATUS_FAILED_PRECONDITION, "mapped");
  CHECK_FAILS(maxBufferCopyFromHost(buffer, 0, &filling, 4, NULL), MAX_STATUS_FAILED_PRECONDITION, "mapped");
  assert_memory_equal(data, values, sizeof values);
  CHECK(maxBufferUnmapFromHost(view));
  CHECK(maxBufferMapToHost(view, MAX_HOST_ACCESS_WRITE, &data));
  int32_t item = 0;
  CHECK_FAILS(maxBufferRead(buffer, (const int64_t[]){0}, 1, 4, &item), MAX_STATUS_FAILED_PRECONDITION, "mapped");
  memcpy(data, values, sizeof values);
  CHECK(maxBufferUnmapFromHost(view));
  maxBufferRelease(view);
  CHECK(maxBufferFill(buffer, &filling, 4, stream)); /* waited for, and then it does not hold the memory */
  CHECK(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE | MAX_HOST_ACCESS_EXCLUSIVE, &data));
  assert_int_equal(((int32_t*)data)[3], 9);
  ((int32_t*)data)[3] = 10;
  CHECK(maxBufferUnmapFromHost(buffer));
  CHECK(maxBufferRead(buffer, (const int64_t[]){3}, 1, 4, &item));
  assert_int_equal(item, 10);
  CHECK(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_WRITE, &data)); /* ends with the buffer */
  maxBufferRelease(buffer);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}
