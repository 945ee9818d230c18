/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "check.h"

static void test_names(void** state) {
  (void)state;
  static const char* const names[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS"};
  for (size_t i = 0; i < COUNT_OF(names); ++i) assert_string_equal(maxStatusGetName((MaxStatus)i), names[i]);
  assert_string_equal(maxStatusGetName(16), "UNKNOWN");
  assert_string_equal(maxStatusGetName(-1), "UNKNOWN");
  assert_string_equal(maxStatusGetName(INT32_MIN), "UNKNOWN");
}

static void test_message_is_kept_until_the_next_failure(void** state) {
  (void)state;
  MaxDType dtype = MAX_DTYPE_FLOAT32;
  CHECK_FAILS(maxDTypeFromName("float31", &dtype), MAX_STATUS_NOT_FOUND, "float31");
  char kept[256];
  snprintf(kept, sizeof kept, "%s", maxGetLastErrorMessage());

  MaxDevice* device = open_cpu();
  CHECK(maxDTypeFromName("float32", &dtype));
  maxDeviceRelease(device);
  assert_string_equal(maxGetLastErrorMessage(), kept);

  CHECK_FAILS(maxDTypeFromName("float33", &dtype), MAX_STATUS_NOT_FOUND, "float33");
}

static void* fail_elsewhere(void* result) {
  MaxDType dtype;
  const char** texts = result;
  texts[0] = maxGetLastErrorMessage()[0] == '\0' ? "empty" : "not empty";
  const MaxStatus status = maxDTypeFromName("elsewhere", &dtype);
  texts[1] = status == MAX_STATUS_NOT_FOUND && strstr(maxGetLastErrorMessage(), "elsewhere") ? "own" : "foreign";
  return NULL;
}

static void test_message_belongs_to_its_thread(void** state) {
  (void)state;
  MaxDType dtype;
  CHECK_FAILS(maxDTypeFromName("here", &dtype), MAX_STATUS_NOT_FOUND, "here");
  pthread_t thread;
  const char* texts[2] = {"", ""};
  assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, texts), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_string_equal(texts[0], "empty");
  assert_string_equal(texts[1], "own");
  assert_non_null(strstr(maxGetLastErrorMessage(), "'here'"));
}

/* Names come from files. */
static void test_message_is_one_line_of_utf8(void** state) {
  (void)state;
  MaxDType dtype;
  CHECK_FAILS(maxDTypeFromName("a\nb\x01\xff\xc3\xa9\xe2\x82\xac\xed\xa0\x80", &dtype), MAX_STATUS_NOT_FOUND,
              "'a\\nb\\x01\\xff\xc3\xa9\xe2\x82\xac\\xed\\xa0\\x80'");
  static char name[100000];
  memset(name, 'n', sizeof name - 1);
  CHECK_FAILS(maxDTypeFromName(name, &dtype), MAX_STATUS_NOT_FOUND, "nnn ... nnn");
  assert_true(strlen(maxGetLastErrorMessage()) < 20000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_names),
      TEST(test_message_is_kept_until_the_next_failure),
      TEST(test_message_belongs_to_its_thread),
      TEST(test_message_is_one_line_of_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
