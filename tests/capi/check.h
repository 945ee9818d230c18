/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the C API share: checks of a status with its message, and of leaks. */
#ifndef MAX_TESTS_CAPI_CHECK_H
#define MAX_TESTS_CAPI_CHECK_H

/* cmocka.h needs the headers before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
/* clang-format on */

#include "max/experimental.h"
#include "max/max.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The call succeeds. */
#define CHECK(call) check_ok((call), #call, __FILE__, __LINE__)
/* The call fails with this status, and its message contains the text. */
#define CHECK_FAILS(call, status, text) check_fails((call), (status), (text), #call, __FILE__, __LINE__)

static inline void check_ok(MaxStatus status, const char* call, const char* file, int line) {
  if (status == MAX_STATUS_OK) return;
  print_error("%s: %s: %s\n", call, maxStatusGetName(status), maxGetLastErrorMessage());
  _fail(file, line);
}

static inline void check_fails(MaxStatus status, MaxStatus expected, const char* text, const char* call,
                               const char* file, int line) {
  if (status == expected && strstr(maxGetLastErrorMessage(), text)) return;
  print_error("%s: expected %s with '%s', got %s: %s\n", call, maxStatusGetName(expected), text,
              maxStatusGetName(status), maxGetLastErrorMessage());
  _fail(file, line);
}

static inline int64_t live_objects(void) {
  int64_t count = -1;
  CHECK(maxExperimentalGetLiveObjectCount(&count));
  return count;
}

static inline void short_sleep(void) {
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}

/* Teardown of every test: nothing is left alive. A stream that was released with work on it goes when the work is done,
   on a separate thread. */
static inline int check_no_leaks(void** state) {
  (void)state;
  int64_t count = live_objects();
  for (int i = 0; i < 1000 && count != 0; ++i) {
    short_sleep();
    count = live_objects();
  }
  if (count != 0) print_error("%lld objects are still alive\n", (long long)count);
  return count == 0 ? 0 : -1;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, NULL, check_no_leaks)

/* A group of tests whose teardown can fail. CMocka 1.1.5 prints that it did and counts nothing: the program would end
   with 0. */
#define RUN_GROUP(tests, set_up, tear_down) run_group(#tests, (tests), COUNT_OF(tests), (set_up), (tear_down))

static CMFixtureFunction group_teardown;
static int is_torn_down; /* remains 0 if an assertion leaves the teardown */

static inline int tear_down_group(void** state) {
  is_torn_down = group_teardown(state) == 0;
  return is_torn_down ? 0 : -1;
}

static inline int run_group(const char* name, const struct CMUnitTest* tests, size_t count, CMFixtureFunction set_up,
                            CMFixtureFunction tear_down) {
  group_teardown = tear_down;
  const int failed = _cmocka_run_group_tests(name, tests, count, set_up, tear_down_group);
  if (!is_torn_down) print_error("the group's teardown failed\n");
  return failed != 0 || !is_torn_down;
}

static inline MaxDevice* open_cpu(void) {
  MaxDevice* device = NULL;
  CHECK(maxDeviceCreate("cpu", -1, NULL, &device));
  assert_non_null(device);
  return device;
}

static inline MaxBuffer* new_buffer(MaxDevice* device, MaxDType dtype, int32_t rank, const int64_t* shape) {
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, dtype, rank, shape, NULL, &buffer));
  assert_non_null(buffer);
  return buffer;
}

static inline MaxBufferInfo info_of(const MaxBuffer* buffer) {
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  CHECK(maxBufferGetInfo(buffer, &info));
  return info;
}

static inline int32_t has_flag(const MaxBuffer* buffer, MaxBufferFlags flag) {
  return (info_of(buffer).flags & flag) != 0;
}

/* One string of a buffer of strings. */
static inline const char* string_of(const MaxBuffer* buffer, int64_t index, size_t* length) {
  const char* text = NULL;
  CHECK(maxBufferGetStrings(buffer, index, 1, &text, length));
  return text;
}

static inline void* data_of(MaxBuffer* buffer) {
  void* data = NULL;
  CHECK(maxBufferGetMutableData(buffer, &data));
  return data;
}

/* Options of a graph's input that name its dimensions. */
#define NAMED(names) (&(const MaxGraphInputOptions){sizeof(MaxGraphInputOptions), (names), NULL})

static inline MaxTensorInfo input_of(const MaxModel* model, int32_t index) {
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  CHECK(maxModelGetInput(model, index, &info));
  return info;
}

static inline MaxTensorInfo output_of(const MaxModel* model, int32_t index) {
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  CHECK(maxModelGetOutput(model, index, &info));
  return info;
}

static inline MaxTensorInfo value_info(const MaxGraphValue* value) {
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  CHECK(maxGraphValueGetInfo(value, &info));
  return info;
}

/* A buffer of int32 that holds 0, 1, 2, ... */
static inline MaxBuffer* new_counting(MaxDevice* device, int32_t rank, const int64_t* shape) {
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, rank, shape);
  int64_t count = info_of(buffer).elementCount;
  int32_t* values = data_of(buffer);
  for (int64_t i = 0; i < count; ++i) values[i] = (int32_t)i;
  return buffer;
}

/* A vector of float32 that holds first, first + 1, ... */
static inline MaxBuffer* new_vector(int64_t count, float first) {
  MaxDevice* cpu = open_cpu();
  MaxBuffer* buffer = new_buffer(cpu, MAX_DTYPE_FLOAT32, 1, &count);
  float* values = data_of(buffer);
  for (int64_t i = 0; i < count; ++i) values[i] = first + (float)i;
  maxDeviceRelease(cpu);
  return buffer;
}

#endif
