/* SPDX-License-Identifier: Apache-2.0 */
/* The same answers from drivers of different versions of HIP: hip_versions VERSION */
#include "../capi/check.h"

static int64_t expected_version;

static void test_a_device_is_described(void** state) {
  (void)state;
  MaxDevice* device = NULL;
  const char *architecture = NULL, *name = NULL;
  int64_t version = 0;
  uint64_t free_bytes = 0, total_bytes = 0;
  CHECK(maxDeviceCreate("hip", 1, NULL, &device));
  CHECK(maxDeviceGetDriverVersion(device, &version));
  assert_int_equal(version, expected_version);
  CHECK(maxDeviceGetArchitectureName(device, &architecture));
  assert_string_equal(architecture, "gfx90a");
  CHECK(maxDeviceGetName(device, &name));
  assert_string_equal(name, "Fake HIP device 1");
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total_bytes));
  assert_int_equal(total_bytes, 256 << 20);
  maxDeviceRelease(device);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  expected_version = strtol(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_device_is_described)};
  return cmocka_run_group_tests_name("hip versions", tests, NULL, NULL);
}
