/* SPDX-License-Identifier: Apache-2.0 */
/* Slices against an independent walk over every element that numpy's rules select. */
#include "check.h"

#define OMITTED MAX_SLICE_OMITTED

/* The indices that Python's range(*slice(start, stop, step).indices(size)) gives. */
static int64_t python_indices(int64_t start, int64_t stop, int64_t step, int64_t size, int64_t* out) {
  int64_t count = 0;
  if (step == OMITTED) step = 1;
  if (start == OMITTED)
    start = step < 0 ? size - 1 : 0;
  else if (start < 0)
    start = start + size < 0 ? (step < 0 ? -1 : 0) : start + size;
  else if (start >= size)
    start = step < 0 ? size - 1 : size;
  if (stop == OMITTED)
    stop = step < 0 ? -1 : size;
  else if (stop < 0)
    stop = stop + size < 0 ? (step < 0 ? -1 : 0) : stop + size;
  else if (stop >= size)
    stop = step < 0 ? size - 1 : size;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) out[count++] = i;
  return count;
}

static void test_ranges_are_those_of_python(void** state) {
  (void)state;
  static const int64_t ends[] = {OMITTED, -100, -7, -6, -5, -2, -1, 0, 1, 3, 4, 5, 6, 7, 100};
  static const int64_t steps[] = {OMITTED, 1, 2, 3, 5, 100, -1, -2, -3, -100};
  MaxDevice* device = open_cpu();
  for (int64_t size = 0; size <= 6; ++size) {
    MaxBuffer* buffer = new_counting(device, 1, &size);
    for (size_t a = 0; a < COUNT_OF(ends); ++a)
      for (size_t b = 0; b < COUNT_OF(ends); ++b)
        for (size_t c = 0; c < COUNT_OF(steps); ++c) {
          int64_t expected[8];
          const int64_t count = python_indices(ends[a], ends[b], steps[c], size, expected);
          MaxBuffer* view = NULL;
          CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, &ends[a], &ends[b], &steps[c], 1,
                               &view));
          const int64_t* dims = info_of(view).shape;
          assert_int_equal(dims[0], count);
          for (int64_t i = 0; i < count; ++i) {
            int32_t value = -1;
            CHECK(maxBufferRead(view, &i, 1, 4, &value));
            assert_int_equal(value, expected[i]);
          }
          maxBufferRelease(view);
        }
    maxBufferRelease(buffer);
  }
  maxDeviceRelease(device);
}

struct slice_case {
  const char* what;
  int32_t count;
  MaxSliceKind kinds[5];
  int64_t starts[5];
  int64_t stops[5];
  int64_t steps[5];
  int32_t rank;
  int64_t shape[5];
  int32_t first;
  int32_t last;
};

enum { I = 0, R = 1, E = 2, N = 3 };

/* Of a buffer of shape (2, 3, 4) that counts from 0. */
static const struct slice_case cases[] = {
    {"x[()]", 0, {0}, {0}, {0}, {0}, 3, {2, 3, 4}, 0, 23},
    {"x[1]", 1, {I}, {1}, {0}, {0}, 2, {3, 4}, 12, 23},
    {"x[-1, 2]", 2, {I, I}, {-1, 2}, {0}, {0}, 1, {4}, 20, 23},
    {"x[1, 1, 1]", 3, {I, I, I}, {1, 1, 1}, {0}, {0}, 0, {0}, 17, 17},
    {"x[..., 2]", 2, {E, I}, {0, 2}, {0}, {0}, 2, {2, 3}, 2, 22},
    {"x[0, ..., 1:3]", 3, {I, E, R}, {0, 0, 1}, {0, 0, 3}, {1, 1, 1}, 2, {3, 2}, 1, 10},
    {"x[None]", 1, {N}, {0}, {0}, {0}, 4, {1, 2, 3, 4}, 0, 23},
    {"x[:, None, ::2, ::-1]",
     4,
     {R, N, R, R},
     {OMITTED, 0, OMITTED, OMITTED},
     {OMITTED, 0, OMITTED, OMITTED},
     {OMITTED, 0, 2, -1},
     4,
     {2, 1, 2, 4},
     3,
     20},
    {"x[..., None]", 2, {E, N}, {0}, {0}, {0}, 4, {2, 3, 4, 1}, 0, 23},
    {"x[::-1, ::-1, ::-1]",
     3,
     {R, R, R},
     {OMITTED, OMITTED, OMITTED},
     {OMITTED, OMITTED, OMITTED},
     {-1, -1, -1},
     3,
     {2, 3, 4},
     23,
     0},
    {"x[:, 1:1]", 2, {R, R}, {OMITTED, 1}, {OMITTED, 1}, {1, 1}, 3, {2, 0, 4}, -1, -1},
    {"x[..., 0, 0, 0]", 4, {E, I, I, I}, {0}, {0}, {0}, 0, {0}, 0, 0},
};

static void test_several_dimensions(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 3, (const int64_t[]){2, 3, 4});
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    const struct slice_case* c = &cases[i];
    MaxBuffer* view = NULL;
    CHECK(maxBufferSlice(buffer, c->kinds, c->starts, c->stops, c->steps, c->count, &view));
    int32_t rank = -1;
    const int64_t* dims = NULL;
    rank = info_of(view).rank;
    dims = info_of(view).shape;
    if (rank != c->rank || memcmp(dims, c->shape, (size_t)rank * sizeof *dims) != 0) fail_msg("%s", c->what);
    if (c->first >= 0) {
      int32_t value = -1;
      CHECK(maxBufferRead(view, (const int64_t[]){0, 0, 0, 0, 0}, rank, 4, &value));
      if (value != c->first) fail_msg("%s starts with %d", c->what, value);
      CHECK(maxBufferRead(view, (const int64_t[]){-1, -1, -1, -1, -1}, rank, 4, &value));
      if (value != c->last) fail_msg("%s ends with %d", c->what, value);
    }
    maxBufferRelease(view);
  }
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_slices_of_slices_share_memory(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){4, 6});
  MaxBuffer* rows = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){R}, (const int64_t[]){OMITTED}, (const int64_t[]){OMITTED},
                       (const int64_t[]){-2}, 1, &rows));
  maxBufferRelease(buffer);
  MaxBuffer* part = NULL;
  CHECK(maxBufferSlice(rows, (const MaxSliceKind[]){I, R}, (const int64_t[]){1, 4}, (const int64_t[]){0, 1},
                       (const int64_t[]){1, -1}, 2, &part));
  const int32_t value = 1000;
  CHECK(maxBufferWrite(part, (const int64_t[]){2}, 1, &value, 4));
  int32_t seen = 0;
  CHECK(maxBufferRead(rows, (const int64_t[]){1, 2}, 2, 4, &seen));
  assert_int_equal(seen, 1000);
  maxBufferRelease(rows);
  CHECK(maxBufferRead(part, (const int64_t[]){0}, 1, 4, &seen));
  assert_int_equal(seen, 10);
  maxBufferRelease(part);
  maxDeviceRelease(device);
}

static void test_contiguity(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){4, 6});
  static const struct {
    int64_t start, stop, step;
    int32_t axis_kind;
    int32_t expected;
  } rows[] = {{1, 3, 1, R, 1}, {0, 4, 2, R, 0}, {OMITTED, OMITTED, -1, R, 0}, {1, 2, 5, R, 1}};
  for (size_t i = 0; i < COUNT_OF(rows); ++i) {
    MaxBuffer* view = NULL;
    CHECK(maxBufferSlice(buffer, &rows[i].axis_kind, &rows[i].start, &rows[i].stop, &rows[i].step, 1, &view));
    int32_t contiguous = has_flag(view, MAX_BUFFER_FLAG_CONTIGUOUS);
    assert_int_equal(contiguous, rows[i].expected);
    maxBufferRelease(view);
  }
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_types_below_8_bits(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT4, 2, (const int64_t[]){4, 4});
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){R}, (const int64_t[]){1}, (const int64_t[]){3}, NULL, 1, &view));
  assert_ptr_equal(data_of(view), (char*)data_of(buffer) + 2);
  maxBufferRelease(view);
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){I, R}, (const int64_t[]){0, 1}, NULL, NULL, 2, &view),
              MAX_STATUS_UNIMPLEMENTED, "byte boundary");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){R, R}, (const int64_t[]){0, 0}, NULL,
                             (const int64_t[]){1, 2}, 2, &view),
              MAX_STATUS_UNIMPLEMENTED, "contiguous");
  assert_null(view);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_refusals(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 2, (const int64_t[]){4, 6});
  MaxBuffer* view = NULL;
  const int64_t zeros[3] = {0, 0, 0};
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){I}, (const int64_t[]){4}, NULL, NULL, 1, &view),
              MAX_STATUS_OUT_OF_RANGE, "Index 4 is out of range for dimension 0 of size 4");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){R, I}, (const int64_t[]){0, -7}, NULL, NULL, 2, &view),
              MAX_STATUS_OUT_OF_RANGE, "Index -7 is out of range for dimension 1 of size 6");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){I, I, I}, zeros, NULL, NULL, 3, &view),
              MAX_STATUS_INVALID_ARGUMENT, "has steps for 3 dimensions");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){E, E}, zeros, NULL, NULL, 2, &view),
              MAX_STATUS_INVALID_ARGUMENT, "2 ellipses");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){R}, zeros, NULL, zeros, 1, &view),
              MAX_STATUS_INVALID_ARGUMENT, "zero");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){4}, zeros, NULL, NULL, 1, &view),
              MAX_STATUS_INVALID_ARGUMENT, "unknown kind 4");
  CHECK_FAILS(maxBufferSlice(buffer, NULL, zeros, NULL, NULL, 1, &view), MAX_STATUS_INVALID_ARGUMENT, "'kinds'");
  CHECK_FAILS(maxBufferSlice(buffer, (const MaxSliceKind[]){I}, NULL, NULL, NULL, 1, &view),
              MAX_STATUS_INVALID_ARGUMENT, "'starts'");
  CHECK_FAILS(maxBufferSlice(buffer, NULL, NULL, NULL, NULL, -1, &view), MAX_STATUS_INVALID_ARGUMENT, "-1");
  MaxSliceKind many[20];
  for (size_t i = 0; i < COUNT_OF(many); ++i) many[i] = N;
  const int64_t starts[20] = {0};
  CHECK_FAILS(maxBufferSlice(buffer, many, starts, NULL, NULL, 20, &view), MAX_STATUS_UNIMPLEMENTED, "16 dimensions");
  const int64_t extreme[] = {INT64_MIN + 1, INT64_MAX};
  for (size_t a = 0; a < 2; ++a)
    for (size_t b = 0; b < 2; ++b)
      for (size_t c = 0; c < 2; ++c) {
        CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){R}, &extreme[a], &extreme[b], &extreme[c], 1, &view));
        maxBufferRelease(view);
      }
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_ranges_are_those_of_python),
      TEST(test_several_dimensions),
      TEST(test_slices_of_slices_share_memory),
      TEST(test_contiguity),
      TEST(test_types_below_8_bits),
      TEST(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
