/* SPDX-License-Identifier: Apache-2.0 */
/* What models hold: the report, the limit of a session, and giving memory back. */
#define _GNU_SOURCE
#include <pthread.h>

#include "models.h"

static const uint64_t megabyte = 1000000;

static MaxModelMemory memory_of(const MaxModel* model) {
  MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
  CHECK(maxModelGetMemory(model, &memory));
  assert_int_equal(memory.validMask, 127);
  assert_int_equal(memory.total, memory.mappedWeights + memory.ownedWeights + memory.packedWeights + memory.plans +
                                     memory.arenas + memory.outputs);
  return memory;
}

static uint64_t used_by(const MaxSession* session) {
  MaxSessionMemory memory = MAX_SESSION_MEMORY_INIT;
  CHECK(maxSessionGetMemory(session, &memory));
  assert_int_equal(memory.validMask, MAX_SESSION_MEMORY_USED | MAX_SESSION_MEMORY_PEAK | MAX_SESSION_MEMORY_LIMIT);
  assert_true(memory.peak >= memory.used);
  return memory.used;
}

static void the_report_follows_the_model(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_power(session, 3);
  MaxModelMemory memory = memory_of(model);
  assert_int_equal(memory.total, 0);
  MaxBuffer* input = new_square(300, 0);
  MaxBuffer* output = execute(model, input);
  memory = memory_of(model);
  assert_true(memory.plans > 0);
  assert_true(memory.arenas >= 300 * 300 * 4);
  assert_int_equal(memory.outputs, 0);
  maxBufferRelease(output);
  assert_true(memory_of(model).outputs >= 300 * 300 * 4);

  MaxDevice* cpu = open_cpu();
  CHECK(maxDeviceTrim(cpu));
  memory = memory_of(model);
  assert_int_equal(memory.arenas, 0);
  assert_int_equal(memory.outputs, 0);
  maxBufferRelease(execute(model, input));
  maxDeviceRelease(cpu);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void weights_are_counted(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = NULL;
  CHECK(maxModelLoad(session, MAX_TEST_DATA "/models/tiny_bert.onnx", NULL, &model));
  const MaxModelMemory memory = memory_of(model);
  assert_true(memory.ownedWeights + memory.mappedWeights > 0);
  assert_true(memory.packedWeights > 0);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void runs_keep_to_the_limit(void** state) {
  (void)state;
  MaxSession* session = new_session(4 * megabyte);
  MaxModel* model = new_power(session, 3);
  MaxBuffer* small = new_square(100, 1);
  MaxBuffer* large = new_square(2000, 1); /* 16 MB each */
  MaxBuffer* output = NULL;
  for (int i = 0; i < 3; ++i) {
    maxBufferRelease(execute(model, small));
    CHECK_FAILS(maxModelExecute(model, &large, 1, NULL, &output, 1), MAX_STATUS_RESOURCE_EXHAUSTED,
                "the limit is 4000000");
    assert_null(output);
  }
  MaxSessionMemory memory = MAX_SESSION_MEMORY_INIT;
  CHECK(maxSessionGetMemory(session, &memory));
  assert_int_equal(memory.limit, 4 * megabyte);
  assert_in_range(memory.peak, 100 * 100 * 4, 4 * megabyte);
  maxBufferRelease(small);
  maxBufferRelease(large);
  maxModelRelease(model);
  assert_int_equal(used_by(session), 0);
  maxSessionRelease(session);
}

/* What is kept for other shapes makes way: each of these fits alone, no two of them do. Under the address sanitizer
   each value has separate memory. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TURNS_LIMIT 2222222
#endif
#endif
#ifndef TURNS_LIMIT
#define TURNS_LIMIT 1111111
#endif

static void shapes_take_turns(void** state) {
  (void)state;
  MaxSession* session = new_session(TURNS_LIMIT);
  MaxModel* model = new_power(session, 3);
  const int64_t sizes[] = {200, 233, 217, 203, 230};
  for (int round = 0; round < 3; ++round)
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
      MaxBuffer* input = new_square(sizes[i], 0);
      maxBufferRelease(execute(model, input));
      maxBufferRelease(input);
    }
  maxModelRelease(model);
  assert_int_equal(used_by(session), 0);
  maxSessionRelease(session);
}

/* On a created stream too, with time to finish between the calls. */
static void queued_shapes_take_turns(void** state) {
  (void)state;
  MaxSession* session = new_session(TURNS_LIMIT);
  MaxModel* model = new_power(session, 3);
  MaxDevice* cpu = open_cpu();
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(cpu, NULL, &stream));
  options.stream = stream;
  const int64_t sizes[] = {200, 233, 217, 400, 203, 230};
  for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
    MaxBuffer *input = new_square(sizes[i], 0), *output = NULL;
    if (sizes[i] == 400)
      CHECK_FAILS(maxModelExecute(model, &input, 1, &options, &output, 1), MAX_STATUS_RESOURCE_EXHAUSTED,
                  "the limit is");
    else
      CHECK(maxModelExecute(model, &input, 1, &options, &output, 1));
    CHECK(maxStreamSynchronize(stream, 0));
    maxBufferRelease(output);
    maxBufferRelease(input);
  }
  maxStreamRelease(stream);
  maxModelRelease(model);
  assert_int_equal(used_by(session), 0);
  maxSessionRelease(session);
  maxDeviceRelease(cpu);
}

/* Outputs count as long as the program holds them, even after the session. */
static void held_outputs_count(void** state) {
  (void)state;
  MaxSession* session = new_session(2 * megabyte);
  MaxModel* model = new_unary(session, "Neg", "negate");
  MaxBuffer* input = new_floats(1, (const int64_t[]){200000}, 1);
  MaxBuffer* first = execute(model, input);
  MaxBuffer* second = execute(model, input);
  MaxBuffer* third = NULL;
  CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &third, 1), MAX_STATUS_RESOURCE_EXHAUSTED, "800000 bytes");
  maxBufferRelease(first);
  third = execute(model, input);
  maxModelRelease(model);
  assert_true(used_by(session) >= 1600000);
  maxSessionRelease(session);
  assert_float_equal(first_of(third), -1, 0);
  maxBufferRelease(second);
  maxBufferRelease(third);
  maxBufferRelease(input);
}

/* Also what a loop stacks up; the message names the node. */
static void loops_keep_to_the_limit(void** state) {
  (void)state;
  MaxSession* session = new_session(100000);
  MaxModel* model = new_loop(session, 1);
  MaxDevice* cpu = open_cpu();
  MaxBuffer* inputs[] = {new_buffer(cpu, MAX_DTYPE_INT64, 0, NULL), new_floats(1, (const int64_t[]){1}, 1),
                         new_floats(1, (const int64_t[]){1}, 0)};
  MaxBuffer* results[2] = {NULL, NULL};
  int64_t* trips = data_of(inputs[0]);
  *trips = 1000000;
  CHECK_FAILS(maxModelExecute(model, inputs, 3, NULL, results, 2), MAX_STATUS_RESOURCE_EXHAUSTED, "'repeat'");
  *trips = 100;
  CHECK(maxModelExecute(model, inputs, 3, NULL, results, 2));
  assert_float_equal(first_of(results[0]), 100, 0);
  for (int i = 0; i < 3; ++i) maxBufferRelease(inputs[i]);
  for (int i = 0; i < 2; ++i) maxBufferRelease(results[i]);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void loads_keep_to_the_limit(void** state) {
  (void)state;
  const char* path = MAX_TEST_DATA "/models/tiny_bert.onnx";
  MaxSession* narrow = new_session(10000);
  MaxModel* model = NULL;
  CHECK_FAILS(maxModelLoad(narrow, path, NULL, &model), MAX_STATUS_RESOURCE_EXHAUSTED, "the limit is 10000");
  assert_null(model);
  assert_int_equal(used_by(narrow), 0);
  CHECK(maxModelLoad(narrow, MAX_TEST_DATA "/models/negate.onnx", NULL, &model));
  maxModelRelease(model);
  maxSessionRelease(narrow);

  MaxSession* wide = new_session(100 * megabyte);
  CHECK(maxModelLoad(wide, path, NULL, &model));
  assert_true(used_by(wide) > 0);
  maxModelRelease(model);
  assert_int_equal(used_by(wide), 0);
  maxSessionRelease(wide);
}

static void bad_input(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Neg", "negate");
  MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
  MaxSessionMemory sum = MAX_SESSION_MEMORY_INIT;
  CHECK_FAILS(maxModelGetMemory(NULL, &memory), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelGetMemory(model, NULL), MAX_STATUS_INVALID_ARGUMENT, "outMemory");
  memory.structSize = 0;
  CHECK_FAILS(maxModelGetMemory(model, &memory), MAX_STATUS_INVALID_ARGUMENT, "structSize");
  MaxModelDeviceMemory here = MAX_MODEL_DEVICE_MEMORY_INIT;
  CHECK_FAILS(maxModelGetDeviceMemory(NULL, NULL, &here), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK_FAILS(maxModelGetDeviceMemory(model, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outMemory");
  here.structSize = 3;
  CHECK_FAILS(maxModelGetDeviceMemory(model, NULL, &here), MAX_STATUS_INVALID_ARGUMENT, "structSize");
  CHECK_FAILS(maxSessionGetMemory(NULL, &sum), MAX_STATUS_INVALID_ARGUMENT, "session");
  CHECK_FAILS(maxSessionGetMemory(session, NULL), MAX_STATUS_INVALID_ARGUMENT, "outMemory");
  /* Without a limit nothing is counted, and the report says so. */
  sum.used = 1;
  CHECK(maxSessionGetMemory(session, &sum));
  assert_int_equal(sum.validMask, 0);
  assert_int_equal(sum.used, 0);
  sum.structSize = 0;
  CHECK_FAILS(maxSessionGetMemory(session, &sum), MAX_STATUS_INVALID_ARGUMENT, "structSize");
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* Runs, reports and trims at the same time. */
struct crowd {
  MaxModel* model;
  int is_done;
  int failures;
};

static void* run_in_crowd(void* argument) {
  struct crowd* crowd = argument;
  for (int i = 0; i < 100; ++i) {
    MaxBuffer* input = new_square(20 + i % 5, 1);
    MaxBuffer* output = NULL;
    if (maxModelExecute(crowd->model, &input, 1, NULL, &output, 1) != MAX_STATUS_OK)
      __atomic_fetch_add(&crowd->failures, 1, __ATOMIC_SEQ_CST);
    maxBufferRelease(output);
    maxBufferRelease(input);
  }
  return NULL;
}

static void* trim_and_report(void* argument) {
  struct crowd* crowd = argument;
  MaxDevice* cpu = open_cpu();
  while (!__atomic_load_n(&crowd->is_done, __ATOMIC_SEQ_CST)) {
    MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
    if (maxDeviceTrim(cpu) != MAX_STATUS_OK || maxModelGetMemory(crowd->model, &memory) != MAX_STATUS_OK)
      __atomic_fetch_add(&crowd->failures, 1, __ATOMIC_SEQ_CST);
  }
  maxDeviceRelease(cpu);
  return NULL;
}

static void threads_run_and_trim(void** state) {
  (void)state;
  MaxSession* session = new_session(50 * megabyte);
  struct crowd crowd = {new_power(session, 3), 0, 0};
  pthread_t runners[2], trimmer;
  assert_int_equal(pthread_create(&trimmer, NULL, trim_and_report, &crowd), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&runners[i], NULL, run_in_crowd, &crowd), 0);
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(runners[i], NULL), 0);
  __atomic_store_n(&crowd.is_done, 1, __ATOMIC_SEQ_CST);
  assert_int_equal(pthread_join(trimmer, NULL), 0);
  assert_int_equal(crowd.failures, 0);
  maxModelRelease(crowd.model);
  assert_int_equal(used_by(session), 0);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_report_follows_the_model),
      TEST(weights_are_counted),
      TEST(runs_keep_to_the_limit),
      TEST(shapes_take_turns),
      TEST(queued_shapes_take_turns),
      TEST(held_outputs_count),
      TEST(loads_keep_to_the_limit),
      TEST(loops_keep_to_the_limit),
      TEST(bad_input),
      TEST(threads_run_and_trim),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
