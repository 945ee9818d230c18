/* SPDX-License-Identifier: Apache-2.0 */
/* A machine without compilers; a separate program, since the search runs once per process. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

static void test_no_compiler(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxModule* module = NULL;
  assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
  assert_int_equal(setenv("MAX_CXX", "/nowhere/my-compiler", 1), 0);
  for (int i = 0; i < 2; ++i) {
    CHECK_FAILS(maxModuleCompile(device, "", NULL, NULL, &module), MAX_STATUS_UNAVAILABLE,
                "tried /nowhere/my-compiler, c++, clang++, g++");
    assert_null(module);
  }
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_no_compiler)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
