/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <semaphore.h>

#include "models.h"

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

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

struct report {
  MaxStatus status;
  char message[200];
};

static void note_failure(void* user_data, MaxStatus status) {
  struct report* report = user_data;
  report->status = status;
  snprintf(report->message, sizeof report->message, "%s", maxGetLastErrorMessage());
}

/* A host function is told what has failed before it, and the message is that of its thread. */
static void test_host_functions_know_the_message_of_a_failure(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, MAX_TEST_DATA "/models/gather.onnx", NULL, &model));
  MaxDevice* cpu = open_cpu();
  const int64_t one = 1;
  MaxBuffer* inputs[] = {new_square(2, 1), new_buffer(cpu, MAX_DTYPE_INT64, 1, &one)};
  MaxBuffer* output = NULL;
  *(int64_t*)data_of(inputs[1]) = 7;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  struct report reports[2] = {{-1, ""}, {-1, ""}};
  sem_t gate;
  assert_int_equal(sem_init(&gate, 0, 0), 0);
  CHECK(maxStreamCreate(cpu, NULL, &options.stream));
  CHECK(maxStreamEnqueueHostFunction(options.stream, wait_at_gate, &gate));
  CHECK(maxStreamEnqueueHostFunction(options.stream, note_failure, &reports[0]));
  CHECK(maxModelExecute(model, inputs, 2, &options, &output, 1));
  CHECK(maxStreamEnqueueHostFunction(options.stream, note_failure, &reports[1]));
  sem_post(&gate);
  CHECK_FAILS(maxStreamSynchronize(options.stream, 0), MAX_STATUS_OUT_OF_RANGE, "lookup");
  assert_int_equal(reports[0].status, MAX_STATUS_OK);
  assert_string_equal(reports[0].message, "");
  assert_int_equal(reports[1].status, MAX_STATUS_OUT_OF_RANGE);
  assert_string_equal(reports[1].message, maxGetLastErrorMessage());
  sem_destroy(&gate);
  maxBufferRelease(output);
  maxStreamRelease(options.stream);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_names),
      TEST(test_message_is_kept_until_the_next_failure),
      TEST(test_message_belongs_to_its_thread),
      TEST(test_message_is_one_line_of_utf8),
      TEST(test_host_functions_know_the_message_of_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
