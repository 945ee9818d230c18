/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions. */
#include "check.h"

static void default_session_has_the_host(void** state) {
  (void)state;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  int32_t count = 0, threads = 0, is_host = 0;
  CHECK(maxSessionGetDeviceCount(session, &count));
  assert_int_equal(count, 1);
  MaxDevice* device = NULL;
  CHECK(maxSessionGetDevice(session, 0, &device));
  CHECK(maxDeviceIsHost(device, &is_host));
  assert_int_equal(is_host, 1);
  CHECK(maxSessionGetThreadCount(session, &threads));
  assert_true(threads >= 1);
  maxSessionRetain(session);
  maxSessionRelease(session);
  maxSessionRelease(session);
  maxSessionRetain(NULL);
  maxSessionRelease(NULL);
}

static void options_choose_devices_and_threads(void** state) {
  (void)state;
  MaxDevice* cpu = open_cpu();
  MaxDevice* devices[] = {cpu, cpu};
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.devices = devices;
  options.deviceCount = 2;
  options.threadCount = 3;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(&options, &session));
  int32_t count = 0, threads = 0;
  CHECK(maxSessionGetDeviceCount(session, &count));
  assert_int_equal(count, 2);
  CHECK(maxSessionGetThreadCount(session, &threads));
  assert_int_equal(threads, 3);
  MaxSession* crowded = NULL;
  options.threadCount = 60000;
  CHECK(maxSessionCreate(&options, &crowded));
  maxDeviceRelease(cpu); /* the sessions hold it */
  CHECK(maxSessionGetThreadCount(crowded, &threads));
  assert_in_range(threads, 1, 1024);
  maxSessionRelease(crowded);
  MaxDevice* device = NULL;
  CHECK(maxSessionGetDevice(session, 1, &device));
  assert_ptr_equal(device, cpu);
  CHECK_FAILS(maxSessionGetDevice(session, 2, &device), MAX_STATUS_OUT_OF_RANGE, "Device 2");
  assert_null(device);
  CHECK_FAILS(maxSessionGetDevice(session, -1, &device), MAX_STATUS_OUT_OF_RANGE, "Device -1");
  maxSessionRelease(session);
}

static void wrong_options_are_refused(void** state) {
  (void)state;
  MaxSession* session = (MaxSession*)state;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = -1;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT,
              "threadCount is -1; it must be 0 to 65536");
  assert_null(session);
  options.threadCount = 0;
  options.deviceCount = -1;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT,
              "deviceCount is -1; it must be at least 0");
  options.deviceCount = 1;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "devices");
  MaxDevice* none[] = {NULL};
  options.devices = none;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "Device 0 is NULL");
  options.structSize = 0;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "structSize");
}

/* A size that ends with a field is that of an older version, whose later fields are defaults. */
static void sizes_end_with_a_field(void** state) {
  (void)state;
  const size_t ends[] = {sizeof(size_t),
                         offsetof(MaxSessionOptions, deviceCount),
                         offsetof(MaxSessionOptions, threadCount),
                         offsetof(MaxSessionOptions, memoryLimit),
                         offsetof(MaxSessionOptions, weightsCacheDir),
                         sizeof(MaxSessionOptions)};
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = 1;
  options.memoryLimit = 1000;
  for (size_t size = sizeof(size_t); size <= sizeof options; ++size) {
    int is_end = 0;
    for (size_t i = 0; i < COUNT_OF(ends); ++i) is_end |= size == ends[i];
    options.structSize = size;
    MaxSession* session = NULL;
    if (is_end)
      CHECK(maxSessionCreate(&options, &session));
    else
      CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "which ends within");
    maxSessionRelease(session);
  }
  MaxSession* session = NULL;
  options.structSize = 30;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT,
              "structSize of MaxSessionOptions is 30, which ends within 'memoryLimit'; use its INIT macro");
  CHECK(maxSessionCreate(NULL, &session));
  MaxSessionMemory memory = MAX_SESSION_MEMORY_INIT;
  memory.structSize = 20;
  CHECK_FAILS(maxSessionGetMemory(session, &memory), MAX_STATUS_INVALID_ARGUMENT,
              "structSize of MaxSessionMemory is 20, which ends within 'used'");
  memory.structSize = offsetof(MaxSessionMemory, peak);
  memory.peak = 7;
  CHECK(maxSessionGetMemory(session, &memory));
  assert_int_equal(memory.peak, 7);
  maxSessionRelease(session);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  int32_t number = 0;
  MaxDevice* device = NULL;
  MaxSession* session = NULL;
  CHECK_FAILS(maxSessionCreate(NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outSession");
  CHECK_FAILS(maxSessionGetDeviceCount(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetThreadCount(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetDevice(NULL, 0, &device), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK(maxSessionCreate(NULL, &session));
  CHECK_FAILS(maxSessionGetDeviceCount(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outCount");
  CHECK_FAILS(maxSessionGetThreadCount(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outCount");
  CHECK_FAILS(maxSessionGetDevice(session, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "outDevice");
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(default_session_has_the_host), TEST(options_choose_devices_and_threads), TEST(wrong_options_are_refused),
      TEST(sizes_end_with_a_field),       TEST(null_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
