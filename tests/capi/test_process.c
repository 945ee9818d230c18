/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a guest: forks, exits, threads at rest, memory over many models. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 20
#define CAN_MEASURE_MEMORY 0
#else
#define ROUNDS 1000
#define CAN_MEASURE_MEMORY 1
#endif

/* A model with work for two threads, a matrix product built in code. */
static MaxModel* new_model(void) {
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = 2;
  MaxSession* session = NULL;
  MaxModel* model = NULL;
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL;
  const int64_t shape[] = {MAX_DIMENSION_DYNAMIC, MAX_DIMENSION_DYNAMIC};
  const char* names[] = {"n", "n"};
  CHECK(maxSessionCreate(&options, &session));
  CHECK(maxGraphCreate("product", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, shape, NAMED(names), &x));
  MaxGraphValue* inputs[] = {x, x};
  CHECK(maxGraphAddNode(graph, NULL, "MatMul", NULL, inputs, 2, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxGraphRelease(graph);
  maxSessionRelease(session);
  return model;
}

static MaxBuffer* new_ones(int64_t n) {
  const int64_t shape[] = {n, n};
  MaxDevice* cpu = open_cpu();
  MaxBuffer* buffer = new_buffer(cpu, MAX_DTYPE_FLOAT32, 2, shape);
  float* values = data_of(buffer);
  for (int64_t i = 0; i < n * n; ++i) values[i] = 1;
  maxDeviceRelease(cpu);
  return buffer;
}

/* 1 if the product of ones is right. */
static int run(const MaxModel* model, MaxBuffer* ones, int64_t n) {
  MaxBuffer* output = NULL;
  const void* data = NULL;
  if (maxModelExecute(model, &ones, 1, NULL, &output, 1) != MAX_STATUS_OK) return 0;
  const int right = maxBufferGetData(output, &data) == MAX_STATUS_OK && ((const float*)data)[n * n - 1] == (float)n;
  maxBufferRelease(output);
  return right;
}

struct Background {
  MaxModel* model;
  atomic_int stop;
  atomic_int wrong;
};

/* Runs with changing shapes, so that plans are made and contexts change hands all the time. */
static void* run_until_stopped(void* argument) {
  struct Background* background = argument;
  for (int64_t n = 1; !atomic_load(&background->stop); n = n % 150 + 1) {
    MaxBuffer* ones = new_ones(n);
    if (!run(background->model, ones, n)) atomic_fetch_add(&background->wrong, 1);
    maxBufferRelease(ones);
  }
  return NULL;
}

/* Waits for a child that must end by itself within a minute. */
static void expect_clean_end(pid_t child) {
  int status = -1;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0) fail_msg("a child ended with status %d", status);
}

static void forked_children_run_models(void** state) {
  (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  /* The thread sanitizer ends a child of a process with threads that starts one; in a child, the address sanitizer's
   * allocator keeps the locks that the other threads held. */
  skip();
#endif
  struct Background background = {.model = new_model()};
  MaxBuffer* ones = new_ones(100);
  pthread_t thread;
  assert_true(run(background.model, ones, 100));
  assert_int_equal(pthread_create(&thread, NULL, run_until_stopped, &background), 0);
  for (int i = 0; i < ROUNDS; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(run(background.model, ones, 100) ? 0 : 1);
    }
    expect_clean_end(child);
  }
  atomic_store(&background.stop, 1);
  pthread_join(thread, NULL);
  assert_int_equal(background.wrong, 0);
  maxBufferRelease(ones);
  maxModelRelease(background.model);
}

/* The child leaves through exit() while handles live, workers sleep and a thread runs the model. */
static void exits_with_live_handles_are_clean(void** state) {
  (void)state;
  fflush(NULL);
  for (int i = 0; i < ROUNDS; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      static struct Background background;
      background.model = new_model();
      static MaxBuffer* ones; /* held like the handles of a program that ends, not leaked */
      ones = new_ones(100);
      pthread_t thread;
      const int right =
          run(background.model, ones, 100) && pthread_create(&thread, NULL, run_until_stopped, &background) == 0;
      exit(right ? 0 : 1);
    }
    expect_clean_end(child);
  }
}

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void threads_rest_after_a_call(void** state) {
  (void)state;
  MaxModel* model = new_model();
  MaxBuffer* ones = new_ones(200);
  for (int i = 0; i < 100; ++i) assert_true(run(model, ones, 200));
  usleep(10 * 1000);
  const double before = cpu_seconds();
  usleep(1000 * 1000);
  assert_true(cpu_seconds() - before < 0.01);
  maxBufferRelease(ones);
  maxModelRelease(model);
}

static int64_t resident_pages(void) {
  long long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lld %lld", &size, &resident), 2);
  fclose(file);
  return resident;
}

/* One of several ways to fail, in the file, its external data, the arguments or the call. */
static void fail_to_load(MaxSession* session, MaxBuffer* input, int kind) {
  const char* const paths[] = {MAX_TEST_DATA "/models/unsupported.onnx", MAX_TEST_DATA "/models/make_models.py",
                               MAX_TEST_DATA "/models/none.onnx", MAX_TEST_DATA};
  const char* path = MAX_TEST_DATA "/../../examples/digits/digits.onnx";
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  MaxModel* model = NULL;
  MaxBuffer* output = NULL;
  const char* name = "no such weight";
  switch (kind % 7) {
    case 4: /* cut short */
      assert_int_not_equal(maxModelLoadFromMemory(session, path, 3, NULL, &model), MAX_STATUS_OK);
      break;
    case 5: /* a weight that it has not, found after the import */
      options.weightNames = &name;
      options.weights = &input;
      options.weightCount = 1;
      CHECK_FAILS(maxModelLoad(session, path, &options, &model), MAX_STATUS_NOT_FOUND, name);
      break;
    case 6: /* a call that fails */
      CHECK(maxModelLoad(session, path, NULL, &model));
      CHECK_FAILS(maxModelExecute(model, NULL, 0, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "inputs");
      maxModelRelease(model);
      break;
    default:
      assert_int_not_equal(maxModelLoad(session, paths[kind % 7], NULL, &model), MAX_STATUS_OK);
  }
}

/* Half of the cycles fail. */
static void load_run_release(MaxBuffer* input, int cycles) {
  const char* path = MAX_TEST_DATA "/../../examples/digits/digits.onnx";
  for (int i = 0; i < cycles; ++i) {
    MaxSession* session = NULL;
    MaxModel* model = NULL;
    MaxBuffer* output = NULL;
    CHECK(maxSessionCreate(NULL, &session));
    if (i % 2 == 1) {
      fail_to_load(session, input, i / 2);
    } else {
      CHECK(maxModelLoad(session, path, NULL, &model));
      CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
    }
    maxBufferRelease(output);
    maxModelRelease(model);
    maxSessionRelease(session);
  }
}

/* A leak grows in every window of a thousand cycles; the allocator's settling, which depends on how the
   threads meet, does not. */
static void memory_stays_level_over_many_models(void** state) {
  (void)state;
  enum { WINDOWS = 5 };
  const int64_t shape[] = {4, 1, 8, 8};
  MaxDevice* cpu = open_cpu();
  MaxBuffer* input = new_buffer(cpu, MAX_DTYPE_FLOAT32, 4, shape);
  memset(data_of(input), 0, sizeof(float) * 4 * 64);
  load_run_release(input, ROUNDS / 5);
  int level = !CAN_MEASURE_MEMORY;
  int64_t before = 0, after = 0;
  for (int window = 0; window == 0 || (window < WINDOWS && !level); ++window) {
    before = resident_pages();
    load_run_release(input, ROUNDS);
    after = resident_pages();
    level |= after <= before + before / 100;
  }
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
  if (!level) fail_msg("resident pages grew from %lld to %lld", (long long)before, (long long)after);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(exits_with_live_handles_are_clean),
      TEST(forked_children_run_models),
      TEST(threads_rest_after_a_call),
      TEST(memory_stays_level_over_many_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
