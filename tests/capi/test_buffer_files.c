/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files and .max checkpoints. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char folder[64];

static int make_folder(void** state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/max-test-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state) {
  (void)state;
  return rmdir(folder);
}

static const char* path_of(const char* name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void write_file(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static size_t read_file(const char* path, void* bytes, size_t size) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  const size_t count = fread(bytes, 1, size, file);
  assert_int_equal(fclose(file), 0);
  return count;
}

static void test_map_for_reading(void** state) {
  (void)state;
  const char* path = path_of("a");
  int32_t numbers[2048];
  for (int32_t i = 0; i < 2048; ++i) numbers[i] = i;
  write_file(path, numbers, sizeof numbers);
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferMap(path, MAX_DTYPE_INT32, 2, (const int64_t[]){2, 512}, MAX_MAP_MODE_READ, 4000, &buffer));
  const void* data = NULL;
  CHECK(maxBufferGetData(buffer, &data));
  assert_memory_equal(data, numbers + 1000, 4096);
  int32_t flag = has_flag(buffer, MAX_BUFFER_FLAG_READ_ONLY);
  assert_int_equal(flag, 1);
  flag = has_flag(buffer, MAX_BUFFER_FLAG_HOST);
  assert_int_equal(flag, 1);
  assert_int_equal(unlink(path), 0); /* the mapping keeps the content */
  assert_memory_equal(data, numbers + 1000, 4096);
  maxBufferRelease(buffer);
}

static void test_offsets_that_are_not_aligned_are_copied(void** state) {
  (void)state;
  const char* path = path_of("b");
  unsigned char bytes[64];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)i;
  write_file(path, bytes, sizeof bytes);
  MaxBuffer* buffer = NULL;
  static const MaxMapMode modes[] = {MAX_MAP_MODE_READ, MAX_MAP_MODE_COPY_ON_WRITE};
  for (size_t i = 0; i < COUNT_OF(modes); ++i) {
    CHECK(maxBufferMap(path, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){4}, modes[i], 7, &buffer));
    const void* data = NULL;
    CHECK(maxBufferGetData(buffer, &data));
    assert_int_equal((uintptr_t)data % 4, 0);
    assert_memory_equal(data, bytes + 7, 16);
    int32_t read_only = has_flag(buffer, MAX_BUFFER_FLAG_READ_ONLY);
    assert_int_equal(read_only, modes[i] == MAX_MAP_MODE_READ);
    maxBufferRelease(buffer);
  }
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){4}, MAX_MAP_MODE_READ_WRITE, 7, &buffer),
              MAX_STATUS_INVALID_ARGUMENT, "Offset 7");
  assert_null(buffer);
  assert_int_equal(unlink(path), 0);
}

static void test_map_for_writing(void** state) {
  (void)state;
  const char* path = path_of("c");
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferMap(path, MAX_DTYPE_UINT8, 1, (const int64_t[]){5}, MAX_MAP_MODE_CREATE, 3, &buffer));
  memcpy(data_of(buffer), "hello", 5);
  maxBufferRelease(buffer);
  char content[32];
  assert_int_equal(read_file(path, content, sizeof content), 8);
  assert_memory_equal(content, "\0\0\0hello", 8);

  CHECK(maxBufferMap(path, MAX_DTYPE_UINT8, 1, (const int64_t[]){8}, MAX_MAP_MODE_READ_WRITE, 4, &buffer));
  ((char*)data_of(buffer))[0] = 'E';
  maxBufferRelease(buffer);
  assert_int_equal(read_file(path, content, sizeof content), 12); /* extended */
  assert_memory_equal(content, "\0\0\0hEllo\0\0\0\0", 12);

  CHECK(maxBufferMap(path, MAX_DTYPE_UINT8, 1, (const int64_t[]){12}, MAX_MAP_MODE_COPY_ON_WRITE, 0, &buffer));
  memset(data_of(buffer), 'x', 12);
  maxBufferRelease(buffer);
  assert_int_equal(read_file(path, content, sizeof content), 12);
  assert_memory_equal(content, "\0\0\0hEllo\0\0\0\0", 12);

  CHECK(maxBufferMap(path, MAX_DTYPE_UINT8, 1, (const int64_t[]){2}, MAX_MAP_MODE_CREATE, 0, &buffer));
  maxBufferRelease(buffer);
  assert_int_equal(read_file(path, content, sizeof content), 2); /* emptied first */
  assert_int_equal(unlink(path), 0);
}

static void test_map_refuses(void** state) {
  (void)state;
  const char* path = path_of("d");
  write_file(path, "12345678", 8);
  MaxBuffer* buffer = NULL;
  const int64_t eight[] = {8};
  CHECK_FAILS(maxBufferMap("/nonexistent/x", MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_READ, 0, &buffer),
              MAX_STATUS_NOT_FOUND, "/nonexistent/x");
  CHECK_FAILS(maxBufferMap(folder, MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_READ, 0, &buffer),
              MAX_STATUS_INVALID_ARGUMENT, "folder");
  CHECK_FAILS(maxBufferMap("/dev/null", MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_READ, 0, &buffer),
              MAX_STATUS_INVALID_ARGUMENT, "regular file");
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_READ, 1, &buffer), MAX_STATUS_OUT_OF_RANGE,
              "has 8 bytes");
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_COPY_ON_WRITE, 9, &buffer),
              MAX_STATUS_OUT_OF_RANGE, "has 8 bytes");
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_READ, UINT64_MAX, &buffer),
              MAX_STATUS_OUT_OF_RANGE, "overflow");
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_UINT8, 1, eight, MAX_MAP_MODE_READ_WRITE, INT64_MAX, &buffer),
              MAX_STATUS_OUT_OF_RANGE, "too large");
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_UINT8, 1, eight, 4, 0, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "Map mode is 4; it must be 0 to 3");
  CHECK_FAILS(maxBufferMap(path, MAX_DTYPE_STRING, 1, eight, 0, 0, &buffer), MAX_STATUS_INVALID_ARGUMENT, "string");
  CHECK_FAILS(maxBufferMap(NULL, MAX_DTYPE_UINT8, 1, eight, 0, 0, &buffer), MAX_STATUS_INVALID_ARGUMENT, "'path'");
  assert_null(buffer);
  CHECK(maxBufferMap(path, MAX_DTYPE_UINT8, 1, (const int64_t[]){0}, MAX_MAP_MODE_READ, 8, &buffer));
  maxBufferRelease(buffer);
  assert_int_equal(unlink(path), 0);
}

static void check_round_trip(MaxBuffer* buffer, const char* path) {
  CHECK(maxBufferSave(buffer, path, NULL));
  MaxBuffer* loaded = NULL;
  CHECK(maxBufferLoad(path, &loaded));
  MaxDType types[2];
  int32_t ranks[2];
  const int64_t* shapes[2];
  size_t bytes = 0;
  MaxBuffer* const both[2] = {buffer, loaded};
  for (int i = 0; i < 2; ++i) {
    types[i] = info_of(both[i]).dtype;
    ranks[i] = info_of(both[i]).rank;
    shapes[i] = info_of(both[i]).shape;
    bytes = info_of(both[i]).byteCount;
  }
  assert_int_equal(types[0], types[1]);
  assert_int_equal(ranks[0], ranks[1]);
  assert_memory_equal(shapes[0], shapes[1], (size_t)ranks[0] * sizeof(int64_t));
  if (bytes > 0) assert_memory_equal(data_of(buffer), data_of(loaded), bytes);
  maxBufferRelease(loaded);
}

static void test_checkpoints(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  const char* path = path_of("e.max");
  for (MaxDType dtype = 1; dtype < 256; ++dtype) {
    if (maxDTypeGetBits(dtype) == 0) continue;
    MaxBuffer* buffer = new_buffer(device, dtype, 3, (const int64_t[]){2, 3, 5});
    size_t bytes = info_of(buffer).byteCount;
    for (size_t i = 0; i < bytes; ++i) ((unsigned char*)data_of(buffer))[i] = (unsigned char)(i * 31);
    check_round_trip(buffer, path);
    maxBufferRelease(buffer);
  }
  MaxBuffer* scalar = new_buffer(device, MAX_DTYPE_FLOAT64, 0, NULL);
  CHECK(maxBufferFill(scalar, "12345678", 8, NULL));
  check_round_trip(scalar, path);
  maxBufferRelease(scalar);
  MaxBuffer* empty = new_buffer(device, MAX_DTYPE_FLOAT64, 2, (const int64_t[]){0, 3});
  check_round_trip(empty, path);
  maxBufferRelease(empty);
  MaxBuffer* large = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){17 << 20}); /* is mapped when loaded */
  memset(data_of(large), 5, 17 << 20);
  check_round_trip(large, path);
  maxBufferRelease(large);
  assert_int_equal(unlink(path), 0);
  maxDeviceRelease(device);
}

static void test_a_checkpoint_of_a_view_is_dense(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  const char* path = path_of("f.max");
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){6});
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){MAX_SLICE_OMITTED}, NULL,
                       (const int64_t[]){-2}, 1, &view));
  CHECK(maxBufferSave(view, path, "a view"));
  MaxBuffer* loaded = NULL;
  CHECK(maxBufferLoad(path, &loaded));
  assert_memory_equal(data_of(loaded), ((const int32_t[]){5, 3, 1}), 12);
  maxBufferRelease(loaded);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
  assert_int_equal(unlink(path), 0);
  maxDeviceRelease(device);
}

/* A whole checkpoint as another program writes it: key "k", int16, shape (2, 1), data at byte 60. */
static const unsigned char foreign[64] = {0x93, 0xF0, 0x9F, 0x94, 0xA5, 0x2B, 0x2B, 0x93, 0, 0, 0, 0, 1,   0,   0, 0,
                                          23,   0,    0,    0,    0,    0,    0,    0,    1, 0, 0, 0, 'k', 137, 2, 2,
                                          0,    0,    0,    1,    0,    0,    0,    60,   0, 0, 0, 0, 0,   0,   0, 9,
                                          9,    9,    9,    9,    9,    9,    9,    9,    9, 9, 9, 9, 1,   2,   3, 4};

static void test_a_foreign_checkpoint(void** state) {
  (void)state;
  const char* path = path_of("g.max");
  write_file(path, foreign, sizeof foreign);
  MaxBuffer* loaded = NULL;
  CHECK(maxBufferLoad(path, &loaded));
  MaxDType dtype = info_of(loaded).dtype;
  assert_int_equal(dtype, MAX_DTYPE_INT16);
  const int64_t* shape = info_of(loaded).shape;
  assert_memory_equal(shape, ((const int64_t[]){2, 1}), 16);
  assert_memory_equal(data_of(loaded), "\1\2\3\4", 4);
  maxBufferRelease(loaded);
  assert_int_equal(unlink(path), 0);
}

struct damage {
  size_t at;
  unsigned char value;
  MaxStatus status;
  const char* text;
};

static const struct damage damages[] = {
    {0, 0x92, MAX_STATUS_INVALID_ARGUMENT, "not a .max checkpoint"},
    {16, 22, MAX_STATUS_DATA_LOSS, "metadata"},
    {22, 1, MAX_STATUS_DATA_LOSS, "metadata"},
    {24, 200, MAX_STATUS_DATA_LOSS, "metadata"},
    {27, 0xFF, MAX_STATUS_DATA_LOSS, "metadata"},
    {29, 7, MAX_STATUS_DATA_LOSS, "dtype 7"},
    {29, 2, MAX_STATUS_DATA_LOSS, "dtype 2"},
    {30, 9, MAX_STATUS_DATA_LOSS, "metadata"},
    {31, 3, MAX_STATUS_DATA_LOSS, "truncated"},
    {39, 61, MAX_STATUS_DATA_LOSS, "truncated"},
    {46, 0xFF, MAX_STATUS_DATA_LOSS, "truncated"},
};

static void test_damaged_checkpoints(void** state) {
  (void)state;
  const char* path = path_of("h.max");
  MaxBuffer* loaded = NULL;
  for (size_t i = 0; i < COUNT_OF(damages); ++i) {
    unsigned char bytes[sizeof foreign];
    memcpy(bytes, foreign, sizeof foreign);
    bytes[damages[i].at] = damages[i].value;
    write_file(path, bytes, sizeof bytes);
    CHECK_FAILS(maxBufferLoad(path, &loaded), damages[i].status, damages[i].text);
    assert_null(loaded);
  }
  for (size_t size = 0; size < sizeof foreign; ++size) {
    write_file(path, foreign, size);
    const MaxStatus status = maxBufferLoad(path, &loaded);
    assert_int_equal(status, size < 8 ? MAX_STATUS_INVALID_ARGUMENT : MAX_STATUS_DATA_LOSS);
    assert_non_null(strstr(maxGetLastErrorMessage(), "h.max"));
    assert_null(loaded);
  }
  assert_int_equal(unlink(path), 0);
  CHECK_FAILS(maxBufferLoad(path, &loaded), MAX_STATUS_NOT_FOUND, "h.max");
  CHECK_FAILS(maxBufferLoad(NULL, &loaded), MAX_STATUS_INVALID_ARGUMENT, "'path'");
}

static void test_save_refuses(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 1, (const int64_t[]){6});
  CHECK_FAILS(maxBufferSave(buffer, "/nonexistent/x.max", NULL), MAX_STATUS_NOT_FOUND, "/nonexistent/x.max");
  CHECK_FAILS(maxBufferSave(buffer, folder, NULL), MAX_STATUS_INVALID_ARGUMENT, folder);
  CHECK_FAILS(maxBufferSave(buffer, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "'path'");
  CHECK_FAILS(maxBufferSave(NULL, "x", NULL), MAX_STATUS_INVALID_ARGUMENT, "'buffer'");
  char left[96];
  snprintf(left, sizeof left, "%s.%d.tmp", folder, (int)getpid());
  assert_int_equal(access(left, F_OK), -1); /* nothing half-written stays */
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_map_for_reading),      TEST(test_offsets_that_are_not_aligned_are_copied),
      TEST(test_map_for_writing),      TEST(test_map_refuses),
      TEST(test_checkpoints),          TEST(test_a_checkpoint_of_a_view_is_dense),
      TEST(test_a_foreign_checkpoint), TEST(test_damaged_checkpoints),
      TEST(test_save_refuses),
  };
  return RUN_GROUP(tests, make_folder, remove_folder);
}
