/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

static void test_library_is_that_of_the_headers(void** state) {
  (void)state;
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", MAX_VERSION_MAJOR, MAX_VERSION_MINOR, MAX_VERSION_PATCH);
  assert_string_equal(expected, MAX_VERSION_STRING);
  assert_string_equal(maxGetVersion(), MAX_VERSION_STRING);
  assert_int_equal(maxGetAbiVersion(), MAX_ABI_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_library_is_that_of_the_headers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
