/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose values are placed on two devices, on fake drivers: test_placed_graphs API1 API2 [all], the APIs of the
   first and of the second device, and whether each call of a driver fails in turn. Results are compared with the
   host's; the drivers must see no race. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>

#include "conformance.h"
#include "fake_driver.h"

const char* device_api = "cuda";
static const char* second_api = "cuda";
static struct fake_driver driver;
static int fails_all; /* each call of the driver in turn, or samples */

enum { WIDTH = 8, MOST_ROWS = 40, OUTPUTS = 2, NOT_PERMITTED = 800, OUT_OF_MEMORY = 2 };

/* The devices, NULL = those of a test on the host. */
struct pair {
  MaxDevice* devices[2];
  MaxSession* session;
  MaxModel* model;
};

static MaxGraphValue* node(MaxGraph* graph, const char* op, MaxGraphValue* a, MaxGraphValue* b) {
  MaxGraphValue* inputs[] = {a, b};
  MaxGraphValue* made = NULL;
  CHECK(maxGraphAddNode(graph, NULL, op, NULL, inputs, b ? 2 : 1, NULL, &made, 1));
  return made;
}

static MaxGraphValue* moved(MaxGraph* graph, MaxGraphValue* value, MaxDevice* device) {
  MaxGraphValue* there = value;
  if (device) CHECK(maxGraphAddTransfer(graph, value, device, &there));
  return there;
}

static MaxGraphValue* input(MaxGraph* graph, const char* name, MaxDevice* device) {
  const char* const names[] = {"n", NULL};
  MaxGraphInputOptions options = MAX_GRAPH_INPUT_OPTIONS_INIT;
  options.dimensionNames = names;
  options.device = device;
  MaxGraphValue* value = NULL;
  CHECK(maxGraphAddInput(graph, name, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){-1, WIDTH}, &options, &value));
  return value;
}

static void fill(float* values, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)random_below(&seed, 2000) / 1000.0f - 1.0f;
}

static MaxGraphValue* weight_of(MaxGraph* graph, uint32_t seed) {
  MaxDevice* host = open_cpu();
  float numbers[WIDTH * WIDTH];
  fill(numbers, COUNT_OF(numbers), seed);
  MaxBuffer* contents = upload(host, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){WIDTH, WIDTH}, numbers);
  MaxGraphValue* weight = NULL;
  CHECK(maxGraphAddConstant(graph, "w", contents, &weight));
  maxBufferRelease(contents);
  maxDeviceRelease(host);
  return weight;
}

/* A weight that both devices read, a value that both use, and an output of each. */
static MaxGraph* build(MaxDevice* first, MaxDevice* second) {
  MaxGraph* graph = NULL;
  CHECK(maxGraphCreate("placed", &graph));
  MaxGraphValue* weight = weight_of(graph, 5);
  MaxGraphValue* x = input(graph, "x", first);
  MaxGraphValue* y = input(graph, "y", second);
  MaxGraphValue* shared = node(graph, "Tanh", node(graph, "MatMul", x, weight), NULL);
  MaxGraphValue* sum = node(graph, "Add", moved(graph, shared, second), y);
  MaxGraphValue* back = moved(graph, node(graph, "MatMul", sum, weight), first);
  CHECK(maxGraphAddOutput(graph, node(graph, "Mul", back, shared), "here"));
  CHECK(maxGraphAddOutput(graph, node(graph, "Softmax", sum, NULL), "there"));
  return graph;
}

static MaxStatus open_pair(struct pair* p, const MaxDeviceOptions* limit) {
  MaxStatus status = maxDeviceCreate(device_api, 0, NULL, &p->devices[0]);
  if (status == MAX_STATUS_OK)
    status = maxDeviceCreate(second_api, strcmp(device_api, second_api) == 0, limit, &p->devices[1]);
  if (status != MAX_STATUS_OK) return status;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.devices = p->devices;
  options.deviceCount = 2;
  options.threadCount = 1;
  return maxSessionCreate(&options, &p->session);
}

static MaxStatus compile_on(struct pair* p) {
  MaxGraph* graph = build(p->devices[0], p->devices[1]);
  const MaxStatus status = maxModelCompile(p->session, graph, NULL, &p->model);
  maxGraphRelease(graph);
  return status;
}

static struct pair ready_pair(void) {
  struct pair p = {{NULL, NULL}, NULL, NULL};
  CHECK(open_pair(&p, NULL));
  CHECK(compile_on(&p));
  return p;
}

static struct pair ready_on_host(void) {
  struct pair p = {{NULL, NULL}, NULL, NULL};
  CHECK(maxSessionCreate(NULL, &p.session));
  CHECK(compile_on(&p));
  return p;
}

static void close_pair(struct pair* p) {
  maxModelRelease(p->model);
  maxSessionRelease(p->session);
  for (int i = 0; i < 2; ++i) maxDeviceRelease(p->devices[i]);
}

static MaxBuffer* rows_on(MaxDevice* device, int64_t rows, uint32_t seed) {
  static _Thread_local float numbers[MOST_ROWS * WIDTH];
  fill(numbers, (size_t)rows * WIDTH, seed);
  MaxDevice* host = device ? NULL : open_cpu();
  MaxBuffer* buffer = upload(device ? device : host, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){rows, WIDTH}, numbers);
  maxDeviceRelease(host);
  return buffer;
}

/* Both results of a call, one after the other. */
static MaxStatus run_rows(const struct pair* p, MaxStream* stream, int64_t rows, uint32_t seed, float* results) {
  MaxBuffer* inputs[] = {rows_on(p->devices[0], rows, seed), rows_on(p->devices[1], rows, seed + 1)};
  MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  MaxStatus status = maxModelExecute(p->model, inputs, 2, &options, outputs, OUTPUTS);
  for (int i = 0; i < 2; ++i) maxBufferRelease(inputs[i]);
  for (int i = 0; status == MAX_STATUS_OK && i < OUTPUTS; ++i)
    status =
        maxBufferCopyToHost(outputs[i], 0, results + i * rows * WIDTH, (size_t)rows * WIDTH * sizeof *results, NULL);
  for (int i = 0; i < OUTPUTS; ++i) maxBufferRelease(outputs[i]);
  return status;
}

static void check_rows(const struct pair* there, const struct pair* here, MaxStream* stream, int64_t rows,
                       uint32_t seed) {
  float got[OUTPUTS * MOST_ROWS * WIDTH], expected[OUTPUTS * MOST_ROWS * WIDTH];
  CHECK(run_rows(there, stream, rows, seed, got));
  CHECK(run_rows(here, NULL, rows, seed, expected));
  for (int64_t i = 0; i < OUTPUTS * rows * WIDTH; ++i)
    if (!(fabsf(got[i] - expected[i]) <= 1e-5f)) fail_msg("element %d: %g, not %g", (int)i, got[i], expected[i]);
}

static void test_results(void** state) {
  (void)state;
  struct pair there = ready_pair(), here = ready_on_host();
  MaxStream* streams[] = {NULL, new_stream(there.devices[0]), new_stream(there.devices[0])};
  const int64_t copies = driver.count(FAKE_GPU_DIRECT_PEER_COPIES) + driver.count(FAKE_GPU_STAGED_PEER_COPIES);
  for (uint32_t i = 0; i < 9; ++i) check_rows(&there, &here, streams[i % 3], 1 + (i * 7) % MOST_ROWS, i);
  if (strcmp(device_api, second_api) == 0)
    assert_int_equal(driver.count(FAKE_GPU_DIRECT_PEER_COPIES) + driver.count(FAKE_GPU_STAGED_PEER_COPIES),
                     copies + 18);
  for (int i = 0; i < 2; ++i) {
    MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
    CHECK(maxModelGetOutput(there.model, i, &info));
    assert_ptr_equal(info.device, there.devices[i]);
    CHECK(maxModelGetInput(there.model, i, &info));
    assert_ptr_equal(info.device, there.devices[i]);
  }
  for (int i = 1; i < 3; ++i) maxStreamRelease(streams[i]);
  close_pair(&here);
  close_pair(&there);
}

static void test_memory_of_each_device(void** state) {
  (void)state;
  struct pair p = ready_pair();
  float results[OUTPUTS * 7 * WIDTH];
  CHECK(run_rows(&p, NULL, 7, 1, results));
  MaxModelDeviceMemory memory = MAX_MODEL_DEVICE_MEMORY_INIT;
  for (int i = 0; i < 2; ++i) {
    CHECK(maxModelGetDeviceMemory(p.model, p.devices[i], &memory));
    assert_int_equal(memory.weights, WIDTH * WIDTH * sizeof(float));
    assert_true(memory.arenas >= 7 * WIDTH * sizeof(float) && memory.arenas < 10000 && memory.code > 0);
    assert_int_equal(memory.total, memory.weights + memory.arenas + memory.code);
  }
  const uint64_t code = memory.code;
  CHECK(maxModelGetDeviceMemory(p.model, NULL, &memory));
  assert_true(memory.code != code); /* other operators run there */
  struct pair here = ready_on_host();
  MaxDevice* host = open_cpu();
  for (int i = 0; i < 2; ++i) {
    CHECK(maxModelGetDeviceMemory(i ? here.model : p.model, host, &memory));
    assert_true(memory.weights >= WIDTH * WIDTH * sizeof(float) && memory.code == 0);
  }
  CHECK_FAILS(maxModelGetDeviceMemory(here.model, p.devices[0], &memory), MAX_STATUS_INVALID_ARGUMENT, "does not use");
  maxDeviceRelease(host);
  close_pair(&here);
  close_pair(&p);
}

/* Memory of the host is copied to where each input is. */
static void test_arrays_of_the_host(void** state) {
  (void)state;
  struct pair there = ready_pair(), here = ready_on_host();
  float numbers[2][3 * WIDTH], got[3 * WIDTH], expected[3 * WIDTH];
  const void* data[] = {numbers[0], numbers[1]};
  const int64_t shape[] = {3, WIDTH};
  const int64_t* shapes[] = {shape, shape};
  for (uint32_t i = 0; i < 2; ++i) fill(numbers[i], COUNT_OF(numbers[i]), i);
  for (int i = 0; i < 2; ++i) {
    MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
    CHECK(maxModelExecuteHost(i ? here.model : there.model, data,
                              (const MaxDType[]){MAX_DTYPE_FLOAT32, MAX_DTYPE_FLOAT32}, (const int32_t[]){2, 2}, shapes,
                              2, NULL, outputs, OUTPUTS));
    CHECK(maxBufferCopyToHost(outputs[1], 0, i ? expected : got, sizeof got, NULL));
    for (int k = 0; k < OUTPUTS; ++k) maxBufferRelease(outputs[k]);
  }
  for (size_t i = 0; i < COUNT_OF(got); ++i) assert_true(fabsf(got[i] - expected[i]) <= 1e-5f);
  close_pair(&here);
  close_pair(&there);
}

struct caller {
  const struct pair *there, *here;
  MaxStream* stream;
  uint32_t seed;
};

static void* call_often(void* data) {
  const struct caller* caller = data;
  for (uint32_t i = 0; i < 5; ++i)
    check_rows(caller->there, caller->here, caller->stream, 3 + 2 * (i % 2), caller->seed + i);
  return NULL;
}

static void test_calls_of_several_threads(void** state) {
  (void)state;
  struct pair there = ready_pair(), here = ready_on_host();
  struct caller callers[3];
  pthread_t threads[3];
  for (uint32_t i = 0; i < 3; ++i) {
    callers[i] = (struct caller){&there, &here, i ? new_stream(there.devices[0]) : NULL, 100 * i};
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], NULL);
    maxStreamRelease(callers[i].stream);
  }
  close_pair(&here);
  close_pair(&there);
}

/* Shapes that came before take nothing, and the host waits for nothing. */
static void test_steady_calls(void** state) {
  (void)state;
  if (strcmp(device_api, second_api) != 0) return; /* copies between APIs are host functions with memory of their own */
  struct pair p = ready_pair();
  MaxBuffer* inputs[] = {rows_on(p.devices[0], 5, 1), rows_on(p.devices[1], 5, 2)};
  int64_t waits = 0, allocations = 0;
  for (int i = 0; i < 6; ++i) {
    if (i == 3) {
      for (int k = 0; k < 2; ++k) CHECK(maxDeviceSynchronize(p.devices[k], 0));
      waits = driver.count(FAKE_GPU_WAITS);
      allocations = driver.count(FAKE_GPU_ALLOCATIONS);
    }
    MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
    CHECK(maxModelExecute(p.model, inputs, 2, NULL, outputs, OUTPUTS));
    for (int k = 0; k < OUTPUTS; ++k) maxBufferRelease(outputs[k]);
  }
  assert_int_equal(driver.count(FAKE_GPU_WAITS), waits);
  assert_int_equal(driver.count(FAKE_GPU_ALLOCATIONS), allocations);
  for (int i = 0; i < 2; ++i) maxBufferRelease(inputs[i]);
  close_pair(&p);
}

/* Nothing comes back from the second device, whose input another stream writes; the first one goes on with its memory.
 */
static MaxGraph* build_one_way(MaxDevice* first, MaxDevice* second) {
  MaxGraph* graph = NULL;
  CHECK(maxGraphCreate("one way", &graph));
  MaxGraphValue* weight = weight_of(graph, 6);
  MaxGraphValue* x = input(graph, "x", first);
  MaxGraphValue* y = input(graph, "y", second);
  MaxGraphValue* sent = moved(graph, node(graph, "MatMul", x, weight), second);
  MaxGraphValue* rest = node(graph, "Tanh", x, NULL);
  for (int i = 0; i < 4; ++i) rest = node(graph, "MatMul", rest, weight);
  CHECK(maxGraphAddOutput(graph, rest, "here"));
  CHECK(maxGraphAddOutput(graph, node(graph, "Softmax", node(graph, "Add", sent, y), NULL), "there"));
  return graph;
}

static void test_calls_that_are_still_queued(void** state) {
  (void)state;
  enum { CALLS = 8, ROWS = 30 };
  struct pair pairs[] = {{{NULL, NULL}, NULL, NULL}, {{NULL, NULL}, NULL, NULL}};
  CHECK(open_pair(&pairs[0], NULL));
  CHECK(maxSessionCreate(NULL, &pairs[1].session));
  for (int i = 0; i < 2; ++i) {
    MaxGraph* graph = build_one_way(pairs[i].devices[0], pairs[i].devices[1]);
    CHECK(maxModelCompile(pairs[i].session, graph, NULL, &pairs[i].model));
    maxGraphRelease(graph);
  }
  MaxStream* streams[] = {NULL, new_stream(pairs[0].devices[0]), new_stream(pairs[0].devices[0])};
  /* The fakes do not see order that goes through streams of another API. */
  MaxStream* writer = strcmp(device_api, second_api) == 0 ? new_stream(pairs[0].devices[1]) : NULL;
  MaxBuffer* outputs[2][CALLS][OUTPUTS] = {{{NULL}}};
  for (int i = 0; i < 2; ++i)
    for (uint32_t call = 0; call < CALLS; ++call) {
      MaxBuffer* inputs[] = {rows_on(pairs[i].devices[0], ROWS, call), rows_on(pairs[i].devices[1], ROWS, 0)};
      const float value = (float)call / 8;
      CHECK(maxBufferFill(inputs[1], &value, sizeof value, i == 0 ? writer : NULL));
      MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
      options.stream = i == 0 ? streams[call % 3] : NULL;
      CHECK(maxModelExecute(pairs[i].model, inputs, 2, &options, outputs[i][call], OUTPUTS));
      for (int k = 0; k < 2; ++k) maxBufferRelease(inputs[k]);
    }
  for (uint32_t call = 0; call < CALLS; ++call)
    for (int k = 0; k < OUTPUTS; ++k) {
      float got[ROWS * WIDTH], expected[ROWS * WIDTH];
      CHECK(maxBufferCopyToHost(outputs[0][call][k], 0, got, sizeof got, NULL));
      CHECK(maxBufferCopyToHost(outputs[1][call][k], 0, expected, sizeof expected, NULL));
      for (size_t i = 0; i < COUNT_OF(got); ++i)
        if (!(fabsf(got[i] - expected[i]) <= 1e-4f * (1 + fabsf(expected[i]))))
          fail_msg("call %d, element %d: %g, not %g", (int)call, (int)i, got[i], expected[i]);
      for (int i = 0; i < 2; ++i) maxBufferRelease(outputs[i][call][k]);
    }
  for (int i = 1; i < 3; ++i) maxStreamRelease(streams[i]);
  maxStreamRelease(writer);
  for (int i = 0; i < 2; ++i) close_pair(&pairs[i]);
}

static void test_wrong_places(void** state) {
  (void)state;
  struct pair p = ready_pair();
  MaxBuffer* inputs[] = {rows_on(p.devices[0], 2, 1), rows_on(p.devices[0], 2, 2)};
  MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
  char expected[80];
  snprintf(expected, sizeof expected, "Input 1 ('y'): is on %s:0, expected %s:%d", device_api, second_api,
           strcmp(device_api, second_api) == 0);
  CHECK_FAILS(maxModelExecute(p.model, inputs, 2, NULL, outputs, OUTPUTS), MAX_STATUS_INVALID_ARGUMENT, expected);
  CHECK_FAILS(maxModelCapture(p.model, 1, inputs, 2, NULL, outputs, OUTPUTS), MAX_STATUS_INVALID_ARGUMENT, expected);
  maxBufferRelease(inputs[1]);
  inputs[1] = rows_on(p.devices[1], 2, 2);
  CHECK_FAILS(maxModelCapture(p.model, 1, inputs, 2, NULL, outputs, OUTPUTS), MAX_STATUS_FAILED_PRECONDITION,
              "this runs on another device");
  CHECK_FAILS(maxModelSave(p.model, "never.maxc"), MAX_STATUS_UNIMPLEMENTED, "cannot be saved");
  for (int i = 0; i < 2; ++i) maxBufferRelease(inputs[i]);
  /* A session that has only one of them, or the host first. */
  for (int i = 0; i < 2; ++i) {
    MaxDevice* host = open_cpu();
    MaxDevice* devices[] = {i ? host : p.devices[0], p.devices[0], p.devices[1]};
    MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
    options.devices = devices;
    options.deviceCount = i ? 3 : 1;
    struct pair other = p;
    CHECK(maxSessionCreate(&options, &other.session));
    snprintf(expected, sizeof expected,
             i ? "must be an accelerator; it is cpu:0" : "which the session lacks; it has %s:0", device_api);
    const MaxStatus status = compile_on(&other);
    CHECK_FAILS(status, MAX_STATUS_INVALID_ARGUMENT, expected);
    maxSessionRelease(other.session);
    maxDeviceRelease(host);
  }
  close_pair(&p);
}

/* A value on the host between those on devices. */
static void test_host_between(void** state) {
  (void)state;
  struct pair p = {{NULL, NULL}, NULL, NULL};
  CHECK(open_pair(&p, NULL));
  maxSessionRelease(p.session);
  MaxDevice* host = open_cpu();
  MaxDevice* devices[] = {p.devices[0], p.devices[1], host};
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.devices = devices;
  options.deviceCount = 3;
  CHECK(maxSessionCreate(&options, &p.session));
  MaxGraph* graph = NULL;
  CHECK(maxGraphCreate("host", &graph));
  MaxGraphValue* x = input(graph, "x", host);
  MaxGraphValue* there = node(graph, "Exp", moved(graph, x, p.devices[1]), NULL);
  MaxGraphValue* here = node(graph, "Neg", moved(graph, there, host), NULL);
  CHECK(maxGraphAddOutput(graph, node(graph, "Abs", moved(graph, here, p.devices[0]), NULL), "y"));
  CHECK(maxGraphAddOutput(graph, moved(graph, there, host), "z"));
  CHECK(maxModelCompile(p.session, graph, NULL, &p.model));
  for (uint32_t i = 0; i < 4; ++i) {
    MaxBuffer* in = rows_on(host, 3, i);
    MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
    CHECK(maxModelExecute(p.model, &in, 1, NULL, outputs, OUTPUTS));
    float values[3 * WIDTH], y[3 * WIDTH];
    download(in, values, sizeof values);
    CHECK(maxBufferCopyToHost(outputs[0], 0, y, sizeof y, NULL));
    assert_ptr_equal(info_of(outputs[1]).device, host);
    const float* z = data_of(outputs[1]);
    for (size_t k = 0; k < COUNT_OF(y); ++k) {
      assert_true(fabsf(y[k] - expf(values[k])) <= 1e-5f);
      assert_true(fabsf(z[k] - expf(values[k])) <= 1e-5f);
    }
    for (int k = 0; k < OUTPUTS; ++k) maxBufferRelease(outputs[k]);
    maxBufferRelease(in);
  }
  maxGraphRelease(graph);
  maxDeviceRelease(host);
  close_pair(&p);
}

/* The second device has little memory: the call says so, and a smaller one works. */
static void test_limit_of_one_device(void** state) {
  (void)state;
  struct pair p = {{NULL, NULL}, NULL, NULL};
  MaxDeviceOptions limit = MAX_DEVICE_OPTIONS_INIT;
  limit.memoryLimit = 8 << 20;
  CHECK(open_pair(&p, &limit));
  CHECK(compile_on(&p));
  const int64_t rows = 100000;
  MaxBuffer* inputs[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i)
    inputs[i] = new_buffer(p.devices[i], MAX_DTYPE_FLOAT32, 2, (const int64_t[]){rows, WIDTH});
  MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
  CHECK_FAILS(maxModelExecute(p.model, inputs, 2, NULL, outputs, OUTPUTS), MAX_STATUS_RESOURCE_EXHAUSTED, "limit");
  for (int i = 0; i < 2; ++i) maxBufferRelease(inputs[i]);
  struct pair here = ready_on_host();
  check_rows(&p, &here, NULL, 9, 3);
  close_pair(&here);
  close_pair(&p);
}

/* Returns 0 when loading and running take fewer calls of the driver. */
static int fail_one_call(int64_t call, int32_t code, const struct pair* here) {
  struct pair p = {{NULL, NULL}, NULL, NULL};
  float results[OUTPUTS * 4 * WIDTH];
  driver.fail_call(call, code);
  MaxStatus status = open_pair(&p, NULL);
  if (status == MAX_STATUS_OK) status = compile_on(&p);
  MaxBuffer* inputs[2] = {NULL, NULL};
  for (int i = 0; status == MAX_STATUS_OK && i < 2; ++i)
    status = maxBufferCreate(p.devices[i], MAX_DTYPE_FLOAT32, 2, (const int64_t[]){4, WIDTH}, NULL, &inputs[i]);
  MaxBuffer* outputs[OUTPUTS] = {NULL, NULL};
  if (status == MAX_STATUS_OK) status = maxModelExecute(p.model, inputs, 2, NULL, outputs, OUTPUTS);
  for (int i = 0; status == MAX_STATUS_OK && i < OUTPUTS; ++i)
    status = maxBufferCopyToHost(outputs[i], 0, results, 4 * WIDTH * sizeof *results, NULL);
  const int was_reached = driver.failed_call()[0] != '\0';
  driver.fail_call(0, 0);
  if (status != MAX_STATUS_OK && !maxGetLastErrorMessage()[0])
    fail_msg("%s failed without a message", driver.failed_call());
  for (int i = 0; i < 2; ++i) {
    maxBufferRelease(inputs[i]);
    maxBufferRelease(outputs[i]);
  }
  /* A failed wait of one API's driver is a failed host function of the other's stream, which tells it later. */
  const int is_told = strcmp(device_api, second_api) == 0;
  if (is_told && p.model && status != MAX_STATUS_OK && code == OUT_OF_MEMORY) check_rows(&p, here, NULL, 4, 1);
  close_pair(&p);
  return was_reached;
}

static void test_every_call_fails(void** state) {
  (void)state;
  struct pair here = ready_on_host();
  const int32_t codes[] = {OUT_OF_MEMORY, NOT_PERMITTED};
  for (size_t i = 0; i < COUNT_OF(codes); ++i) {
    int64_t call = 1;
    while (call < 2000 && fail_one_call(call, codes[i], &here)) call += fails_all ? 1 : 9 + 4 * (int64_t)i;
    print_message("of %lld calls one failed in turn\n", (long long)call - 1);
    assert_true(call > 40 && call < 2000);
  }
  close_pair(&here);
}

static int check_second_driver(void** state) {
  const int first = check_fake_driver(state);
  device_api = second_api;
  const int second = check_fake_driver(state);
  return first || second ? -1 : 0;
}

int main(int argc, char** argv) {
  if (argc > 1) device_api = argv[1];
  second_api = argc > 2 ? argv[2] : device_api;
  fails_all = argc > 3;
  struct fake_driver second;
  if (!find_fake_driver(device_api, &driver) || !find_fake_driver(second_api, &second)) {
    printf("skipped: MAX_CUDA_LIBRARY or MAX_HIP_LIBRARY does not name a fake driver\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      TEST(test_results),
      TEST(test_memory_of_each_device),
      TEST(test_arrays_of_the_host),
      TEST(test_calls_of_several_threads),
      TEST(test_steady_calls),
      TEST(test_calls_that_are_still_queued),
      TEST(test_wrong_places),
      TEST(test_host_between),
      TEST(test_limit_of_one_device),
      TEST(test_every_call_fails),
  };
  return RUN_GROUP(tests, NULL, check_second_driver);
}
