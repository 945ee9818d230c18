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
  CHECK(maxSessionGetNumThreads(session, &threads));
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
  options.numThreads = 3;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(&options, &session));
  int32_t count = 0, threads = 0;
  CHECK(maxSessionGetDeviceCount(session, &count));
  assert_int_equal(count, 2);
  CHECK(maxSessionGetNumThreads(session, &threads));
  assert_int_equal(threads, 3);
  MaxSession* crowded = NULL;
  options.numThreads = 60000;
  CHECK(maxSessionCreate(&options, &crowded));
  maxDeviceRelease(cpu); /* the sessions hold it */
  CHECK(maxSessionGetNumThreads(crowded, &threads));
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
  options.numThreads = -1;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "numThreads is -1");
  assert_null(session);
  options.numThreads = 0;
  options.deviceCount = -1;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "deviceCount is -1");
  options.deviceCount = 1;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "devices");
  MaxDevice* none[] = {NULL};
  options.devices = none;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "Device 0 is NULL");
  options.structSize = 0;
  CHECK_FAILS(maxSessionCreate(&options, &session), MAX_STATUS_INVALID_ARGUMENT, "structSize");
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  int32_t number = 0;
  MaxDevice* device = NULL;
  MaxSession* session = NULL;
  CHECK_FAILS(maxSessionCreate(NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outSession");
  CHECK_FAILS(maxSessionGetDeviceCount(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetNumThreads(NULL, &number), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetDevice(NULL, 0, &device), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK(maxSessionCreate(NULL, &session));
  CHECK_FAILS(maxSessionGetDeviceCount(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outCount");
  CHECK_FAILS(maxSessionGetNumThreads(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outNumThreads");
  CHECK_FAILS(maxSessionGetDevice(session, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "outDevice");
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(default_session_has_the_host),
      TEST(options_choose_devices_and_threads),
      TEST(wrong_options_are_refused),
      TEST(null_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
