/* SPDX-License-Identifier: Apache-2.0 */
/* Products by the vendors' libraries, which are fakes: test_products API FAULT. With a fault, without a library or if
   none is wanted, our kernels compute them. Results are compared with the host's; the driver must see no race. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>

#include "conformance.h"
#include "fake_driver.h"

const char* device_api = "cuda";
static const char* fault = "none";

enum { SIDE = 512, BATCH = 2, SMALL = 32 };

/* What the fake library counts; 0 if it is not there. */
static int64_t library_count(const char* name) {
  const char* path = getenv(strcmp(device_api, "cuda") == 0 ? "MAX_CUBLASLT_LIBRARY" : "MAX_HIPBLASLT_LIBRARY");
  void* library = path && *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  int64_t (*count)(void) = NULL;
  void* symbol = library ? dlsym(library, name) : NULL;
  memcpy(&count, &symbol, sizeof symbol);
  return count ? count() : 0;
}

static void fill(float* values, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)random_below(&seed, 2000) / 1000.0f - 1.0f;
}

static MaxGraphValue* add(MaxGraph* graph, const char* op, const MaxAttributes* attributes, MaxGraphValue* a,
                          MaxGraphValue* b, MaxGraphValue* c) {
  MaxGraphValue* inputs[] = {a, b, c};
  MaxGraphValue* made = NULL;
  CHECK(maxGraphAddNode(graph, NULL, op, NULL, inputs, c ? 3 : b ? 2 : 1, attributes, &made, 1));
  return made;
}

/* A product alone, one in half precision, a batch of them, one with a bias, transposed factors and Relu, one with a
   residual, and one with an activation that the library lacks. */
static MaxModel* compile_on(MaxSession* session, int64_t side) {
  MaxGraph* graph = NULL;
  CHECK(maxGraphCreate("products", &graph));
  MaxGraphValue* x = NULL;
  MaxGraphValue* bias = NULL;
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 3, (const int64_t[]){BATCH, side, side}, NULL, &x));
  CHECK(maxGraphAddInput(graph, "bias", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){side}, NULL, &bias));
  MaxDevice* host = open_cpu();
  static const int64_t one[] = {0};
  MaxBuffer* index = upload(host, MAX_DTYPE_INT64, 0, NULL, one);
  MaxGraphValue* first = NULL;
  CHECK(maxGraphAddConstant(graph, "first", index, &first));
  MaxGraphValue* matrix = add(graph, "Gather", NULL, x, first, NULL);
  MaxAttributes* half = NULL;
  MaxAttributes* single = NULL;
  MaxAttributes* turned = NULL;
  CHECK(maxAttributesCreate(&half));
  CHECK(maxAttributesSetDType(half, "to", MAX_DTYPE_FLOAT16));
  CHECK(maxAttributesCreate(&single));
  CHECK(maxAttributesSetDType(single, "to", MAX_DTYPE_FLOAT32));
  CHECK(maxAttributesCreate(&turned));
  CHECK(maxAttributesSetInt(turned, "transA", 1));
  CHECK(maxAttributesSetInt(turned, "transB", 1));
  CHECK(maxAttributesSetFloat(turned, "alpha", 0.5f));
  MaxGraphValue* short_matrix = add(graph, "Cast", half, matrix, NULL, NULL);
  MaxGraphValue* short_product = add(graph, "MatMul", NULL, short_matrix, short_matrix, NULL);
  CHECK(maxGraphAddOutput(graph, add(graph, "MatMul", NULL, matrix, matrix, NULL), "plain"));
  CHECK(maxGraphAddOutput(graph, add(graph, "Cast", single, short_product, NULL, NULL), "half"));
  CHECK(maxGraphAddOutput(graph, add(graph, "MatMul", NULL, x, x, NULL), "batch"));
  MaxGraphValue* whole = add(graph, "Gemm", turned, matrix, add(graph, "Neg", NULL, matrix, NULL, NULL), bias);
  CHECK(maxGraphAddOutput(graph, add(graph, "Relu", NULL, whole, NULL, NULL), "whole"));
  MaxGraphValue* positive = add(graph, "Abs", NULL, matrix, NULL, NULL);
  MaxGraphValue* raised = add(graph, "Add", NULL, add(graph, "MatMul", NULL, positive, matrix, NULL), bias, NULL);
  CHECK(maxGraphAddOutput(graph, add(graph, "Add", NULL, raised, matrix, NULL), "residual"));
  MaxGraphValue* bent = add(graph, "Add", NULL, add(graph, "MatMul", NULL, matrix, positive, NULL), bias, NULL);
  CHECK(maxGraphAddOutput(graph, add(graph, "Sigmoid", NULL, bent, NULL, NULL), "activation"));
  MaxModel* model = NULL;
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxAttributesRelease(half);
  maxAttributesRelease(single);
  maxAttributesRelease(turned);
  maxBufferRelease(index);
  maxDeviceRelease(host);
  maxGraphRelease(graph);
  return model;
}

enum { OUTPUTS = 6 };

static MaxStatus run(const MaxModel* model, MaxDevice* device, int64_t side, MaxBuffer** outputs) {
  static float numbers[BATCH * SIDE * SIDE];
  fill(numbers, COUNT_OF(numbers), 3);
  MaxBuffer* inputs[] = {upload(device, MAX_DTYPE_FLOAT32, 3, (const int64_t[]){BATCH, side, side}, numbers),
                         upload(device, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){side}, numbers)};
  const MaxStatus status = maxModelExecute(model, inputs, 2, NULL, outputs, OUTPUTS);
  for (int i = 0; i < 2; ++i) maxBufferRelease(inputs[i]);
  return status;
}

static void check_equal(const MaxBuffer* there, const MaxBuffer* here) {
  static float got[BATCH * SIDE * SIDE], expected[BATCH * SIDE * SIDE];
  const size_t bytes = info_of(here).byteCount;
  download(there, got, bytes);
  download(here, expected, bytes);
  for (size_t i = 0; i < bytes / sizeof *got; ++i)
    if (!(fabsf(got[i] - expected[i]) <= 1e-3f + 1e-3f * fabsf(expected[i])))
      fail_msg("element %d: %g, not %g", (int)i, got[i], expected[i]);
}

static MaxSession* session_on(MaxDevice* device) {
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.devices = &device;
  options.deviceCount = 1;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(&options, &session));
  return session;
}

static void check_products(int64_t side, int64_t products) {
  MaxDevice* devices[] = {open_device(), open_cpu()};
  MaxSession* sessions[] = {session_on(devices[0]), session_on(devices[1])};
  MaxModel* models[] = {compile_on(sessions[0], side), compile_on(sessions[1], side)};
  MaxBuffer* outputs[2][OUTPUTS] = {{NULL}, {NULL}};
  const int64_t before = library_count("fakeProductsGetCount");
  if (strcmp(fault, "fail") == 0 && products > 0) {
    CHECK_FAILS(run(models[0], devices[0], side, outputs[0]), MAX_STATUS_INTERNAL, "Matmul: status 13 on");
  } else {
    for (int i = 0; i < 2; ++i) CHECK(run(models[i], devices[i], side, outputs[i]));
    for (int k = 0; k < OUTPUTS; ++k) check_equal(outputs[0][k], outputs[1][k]);
    assert_int_equal(library_count("fakeProductsGetCount") - before, products);
  }
  CHECK(maxDeviceSynchronize(devices[0], 0)); /* it goes away with its last work */
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < OUTPUTS; ++k) maxBufferRelease(outputs[i][k]);
    maxModelRelease(models[i]);
    maxSessionRelease(sessions[i]);
    maxDeviceRelease(devices[i]);
  }
  assert_int_equal(library_count("fakeProductsGetLiveCount"), 0);
}

static void test_large_products(void** state) {
  (void)state;
  const int isUsed = strcmp(fault, "none") == 0 || strcmp(fault, "fail") == 0;
  check_products(SIDE, isUsed ? OUTPUTS : 0);
}

static void test_small_products(void** state) {
  (void)state;
  check_products(SMALL, 0);
}

/* One product on a device with a limit, 0 = none. Gets what the device took at most. */
static MaxStatus multiply_within(uint64_t limit, uint64_t* peak) {
  static float numbers[SIDE * SIDE];
  MaxDevice* device = NULL;
  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.memoryLimit = limit;
  CHECK(maxDeviceCreate(device_api, 0, &options, &device));
  MaxSession* session = session_on(device);
  MaxGraph* graph = NULL;
  MaxGraphValue* x = NULL;
  CHECK(maxGraphCreate("product", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){SIDE, SIDE}, NULL, &x));
  CHECK(maxGraphAddOutput(graph, add(graph, "MatMul", NULL, x, x, NULL), "y"));
  MaxModel* model = NULL;
  CHECK(maxModelCompile(session, graph, NULL, &model));
  MaxBuffer* input = upload(device, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){SIDE, SIDE}, numbers);
  MaxBuffer* output = NULL;
  const MaxStatus status = maxModelExecute(model, &input, 1, NULL, &output, 1);
  CHECK(maxDeviceSynchronize(device, 0));
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  *peak = stats.peakAllocatedMemory;
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxGraphRelease(graph);
  maxSessionRelease(session);
  maxDeviceRelease(device);
  return status;
}

/* The library's workspace is part of what the device may take. */
static void test_workspace_within_the_limit(void** state) {
  (void)state;
  const uint64_t workspace = 8 << 20;
  const int is_used = strcmp(fault, "none") == 0 || strcmp(fault, "fail") == 0;
  uint64_t peak = 0, limited = 0;
  const MaxStatus status = multiply_within(0, &peak);
  assert_int_equal(status == MAX_STATUS_OK, strcmp(fault, "fail") != 0);
  assert_int_equal(peak > workspace, is_used);
  if (!is_used) return;
  assert_int_equal(multiply_within(peak - workspace / 2, &limited), MAX_STATUS_RESOURCE_EXHAUSTED);
  assert_true(limited <= peak - workspace / 2);
}

int main(int argc, char** argv) {
  if (argc > 1) device_api = argv[1];
  if (argc > 2) fault = argv[2];
  struct fake_driver driver;
  if (!find_fake_driver(device_api, &driver)) {
    printf("skipped: MAX_CUDA_LIBRARY or MAX_HIP_LIBRARY does not name a fake driver\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      TEST(test_large_products),
      TEST(test_small_products),
      TEST(test_workspace_within_the_limit),
  };
  return RUN_GROUP(tests, NULL, check_fake_driver);
}
