/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels do on every device. The argument names the API; exit status 77 = no such device, or no compiler. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>

#include "fake_driver.h"
#include "kernels.h"

const char* device_api = "cpu";

static const char basics[] =
    "struct Point { double x; float y; signed char z; };\n"
    "extern \"C\" __global__ void add(const float* a, const float* b, float* sum, int count) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < count) sum[i] = a[i] + b[i];\n"
    "}\n"
    "extern \"C\" __global__ void scalars(double* out, signed char a, unsigned short b, int c, long long d, float e,\n"
    "                                   double f, Point g) {\n"
    "  out[0] = a; out[1] = b; out[2] = c; out[3] = (double)d; out[4] = e; out[5] = f;\n"
    "  out[6] = g.x; out[7] = g.y; out[8] = g.z;\n"
    "}\n"
    "extern \"C\" __global__ void positions(int* out) {\n"
    "  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
    "  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
    "  int threads = blockDim.x * blockDim.y * blockDim.z;\n"
    "  out[block * threads + thread] = block * 1000 + thread;\n"
    "}\n"
    "extern \"C\" __global__ void increment(int* out) { out[threadIdx.x] += 1; }\n"
    "extern \"C\" __global__ void nothing() {}\n";

struct point {
  double x;
  float y;
  signed char z;
};

static MaxBuffer* new_ints(MaxDevice* device, int64_t count) {
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_INT32, 1, &count, &options, &buffer));
  return buffer;
}

/* One buffer as the only argument. */
static void launch_on(const MaxKernel* kernel, MaxLaunchConfig config, MaxBuffer* buffer, MaxStream* stream) {
  const void* arguments[] = {buffer};
  const size_t sizes[] = {BUFFER_ARGUMENT};
  CHECK(maxKernelLaunch(kernel, &config, arguments, sizes, 1, stream));
}

static void add_on_stream(MaxDevice* device, const MaxModule* module, MaxStream* stream) {
  enum { SIZE = 1000 };
  const int64_t count = SIZE;
  float a[SIZE], b[SIZE], got[SIZE];
  for (int i = 0; i < SIZE; ++i) {
    a[i] = (float)i;
    b[i] = (float)(2 * i);
  }
  MaxBuffer* left = upload(device, MAX_DTYPE_FLOAT32, 1, &count, a);
  MaxBuffer* right = upload(device, MAX_DTYPE_FLOAT32, 1, &count, b);
  MaxBuffer* sum = upload(device, MAX_DTYPE_FLOAT32, 1, &count, a);
  const int32_t size = SIZE;
  const void* arguments[] = {left, right, sum, &size};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT, sizeof size};
  const MaxLaunchConfig config = shape_of((SIZE + 127) / 128, 128);
  CHECK(maxKernelLaunch(find(module, "add"), &config, arguments, sizes, 4, stream));
  if (stream) CHECK(maxStreamSynchronize(stream, 0));
  download(sum, got, sizeof got);
  for (int i = 0; i < SIZE; ++i) assert_true(got[i] == (float)(3 * i));
  maxBufferRelease(left);
  maxBufferRelease(right);
  maxBufferRelease(sum);
}

static void test_adds(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxStream* stream = new_stream(device);
  add_on_stream(device, module, NULL);
  add_on_stream(device, module, stream);
  maxStreamRelease(stream);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void test_arguments_of_all_kinds(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  const int64_t count = 9;
  double values[9] = {0};
  MaxBuffer* out = upload(device, MAX_DTYPE_FLOAT64, 1, &count, values);
  const signed char a = -5;
  const uint16_t b = 60000;
  const int32_t c = -100000;
  const int64_t d = (int64_t)1 << 40;
  const float e = 1.5f;
  const double f = -2.25;
  const struct point g = {1e100, 0.5f, -7};
  const void* address = address_of(out);
  const void* arguments[] = {&address, &a, &b, &c, &d, &e, &f, &g};
  const size_t sizes[] = {8, 1, 2, 4, 8, 4, 8, sizeof g};
  const MaxLaunchConfig config = shape_of(1, 1);
  const double expected[] = {-5, 60000, -100000, 1099511627776.0, 1.5, -2.25, 1e100, 0.5, -7};
  for (int round = 0; round < 2; ++round) {
    CHECK(maxKernelLaunch(find(module, "scalars"), &config, arguments, round == 0 ? sizes : NULL, 8, NULL));
    download(out, values, sizeof values);
    assert_memory_equal(values, expected, sizeof values);
    memset(values, 0, sizeof values);
    CHECK(maxBufferFill(out, "", 1, NULL));
  }
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void test_three_dimensions(void** state) {
  (void)state;
  enum { BLOCKS = 2 * 3 * 4, THREADS = 4 * 3 * 2 };
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxBuffer* out = new_ints(device, BLOCKS * THREADS);
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  memcpy(config.grid, ((const int32_t[]){2, 3, 4}), sizeof config.grid);
  memcpy(config.block, ((const int32_t[]){4, 3, 2}), sizeof config.block);
  launch_on(find(module, "positions"), config, out, NULL);
  int32_t got[BLOCKS * THREADS];
  download(out, got, sizeof got);
  for (int i = 0; i < BLOCKS * THREADS; ++i) assert_int_equal(got[i], i / THREADS * 1000 + i % THREADS);
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void test_shared_memory_and_barriers(void** state) {
  (void)state;
  static const char source[] =
      "extern \"C\" __global__ void total(const int* in, int* out) {\n"
      "  extern __shared__ int parts[];\n"
      "  __shared__ int first;\n"
      "  int i = threadIdx.x;\n"
      "  parts[i] = in[blockIdx.x * blockDim.x + i];\n"
      "  if (i == 0) first = parts[0];\n"
      "  for (int width = blockDim.x / 2; width > 0; width /= 2) {\n"
      "    __syncthreads();\n"
      "    if (i < width) parts[i] += parts[i + width];\n"
      "  }\n"
      "  __syncthreads();\n"
      "  if (i == blockDim.x - 1) out[blockIdx.x] = parts[0] * 1000 + first;\n"
      "}\n";
  enum { BLOCKS = 3, THREADS = 128 };
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, source);
  int32_t values[BLOCKS * THREADS], got[BLOCKS];
  for (int i = 0; i < BLOCKS * THREADS; ++i) values[i] = i % 50;
  const int64_t count = BLOCKS * THREADS;
  MaxBuffer* in = upload(device, MAX_DTYPE_INT32, 1, &count, values);
  MaxBuffer* out = new_ints(device, BLOCKS);
  MaxLaunchConfig config = shape_of(BLOCKS, THREADS);
  config.sharedByteCount = THREADS * sizeof(int32_t);
  const void* arguments[] = {in, out};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT};
  CHECK(maxKernelLaunch(find(module, "total"), &config, arguments, sizes, 2, NULL));
  download(out, got, sizeof got);
  for (int block = 0; block < BLOCKS; ++block) {
    int sum = 0;
    for (int i = 0; i < THREADS; ++i) sum += values[block * THREADS + i];
    assert_int_equal(got[block], sum * 1000 + values[block * THREADS]);
  }
  maxBufferRelease(in);
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void test_much_shared_memory(void** state) {
  (void)state;
  static const char source[] =
      "extern \"C\" __global__ void far(int* out, int last) {\n"
      "  extern __shared__ int shared[];\n"
      "  shared[last] = 5;\n"
      "  out[0] += shared[last];\n"
      "}\n";
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, source);
  MaxKernel* kernel = find(module, "far");
  int64_t before = 0, after = 0;
  CHECK(maxKernelGetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, &before));
  assert_true(before >= 48 << 10);
  MaxBuffer* out = new_ints(device, 1);
  MaxLaunchConfig config = shape_of(1, 1);
  config.sharedByteCount = (size_t)before + 4096;
  const int32_t last = (int32_t)(config.sharedByteCount / 4 - 1);
  const void* arguments[] = {out, &last};
  const size_t sizes[] = {BUFFER_ARGUMENT, sizeof last};
  CHECK_FAILS(maxKernelLaunch(kernel, &config, arguments, sizes, 2, NULL), MAX_STATUS_INVALID_ARGUMENT, "hared");
  const MaxStatus raised = maxKernelSetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, before + 4096);
  if (strcmp(device_api, "cuda") == 0) assert_int_equal(raised, MAX_STATUS_OK);
  if (raised == MAX_STATUS_OK) {
    CHECK(maxKernelGetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, &after));
    assert_int_equal(after, before + 4096);
    CHECK(maxKernelLaunch(kernel, &config, arguments, sizes, 2, NULL));
    int32_t got = 0;
    download(out, &got, sizeof got);
    assert_int_equal(got, 5);
  }
  CHECK_FAILS(maxKernelSetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, -1),
              MAX_STATUS_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(maxKernelSetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, 1 << 30),
              MAX_STATUS_INVALID_ARGUMENT, "1073741824");
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void test_warps_and_atomics(void** state) {
  (void)state;
  static const char source[] =
      "extern \"C\" __global__ void sums(int* out) {\n"
      "  int value = threadIdx.x;\n"
      "  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step, 32);\n"
      "  if (threadIdx.x % 32 == 0) atomicAdd(out, value);\n"
      "  atomicMax(out + 1, (int)threadIdx.x);\n"
      "  if (atomicCAS(out + 2, 0, 7) == 0) atomicAdd(out + 3, 1);\n"
      "  atomicCAS((unsigned short*)(out + 4) + 1, (unsigned short)0, (unsigned short)9);\n"
      "  out[5] = __dp4a(0x01ff0203, 0x02030405, 7) + (int)__dp4a(0x01ff0203u, 0x02030405u, 7u);\n"
      "  out[6] = __ffsll(1ll << 40);\n"
      "}\n";
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, source);
  MaxBuffer* out = new_ints(device, 7);
  launch_on(find(module, "sums"), shape_of(2, 128), out, NULL);
  int32_t got[7];
  download(out, got, sizeof got);
  assert_memory_equal(got, ((const int32_t[]){2 * 127 * 64, 127, 7, 1, 9 << 16, 29 + 797, 41}), sizeof got);
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void test_variables(void** state) {
  (void)state;
  static const char source[] =
      "__constant__ int table[4];\n"
      "__device__ int extra;\n"
      "extern \"C\" __global__ void look(int* out) {\n"
      "  for (int i = 0; i < 4; ++i) out[i] += table[i] + extra;\n"
      "}\n";
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, source);
  MaxStream* stream = new_stream(device);
  MaxBuffer* out = new_ints(device, 4);
  CHECK(maxStreamWaitForDevice(stream, device));
  for (int32_t round = 1; round <= 3; ++round) { /* each launch sees what was set before it */
    int32_t table[4] = {round, 10 * round, 100 * round, 1000 * round};
    CHECK(maxModuleSetConstant(module, "table", table, sizeof table, stream));
    CHECK(maxModuleSetConstant(module, "extra", &round, sizeof round, stream));
    memset(table, 99, sizeof table); /* the bytes were copied */
    launch_on(find(module, "look"), shape_of(1, 1), out, stream);
  }
  CHECK(maxStreamSynchronize(stream, 0));
  int32_t got[4];
  download(out, got, sizeof got);
  assert_memory_equal(got, ((const int32_t[]){12, 66, 606, 6006}), sizeof got);
  const int32_t five[5] = {0};
  CHECK_FAILS(maxModuleSetConstant(module, "table", five, sizeof five, stream), MAX_STATUS_OUT_OF_RANGE, "table");
  CHECK_FAILS(maxModuleSetConstant(module, "chair", five, 4, stream), MAX_STATUS_NOT_FOUND, "chair");
  CHECK(maxStreamSynchronize(stream, 0));
  maxBufferRelease(out);
  maxStreamRelease(stream);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

/* Handles are given back while the work that needs them has not begun. */
static void test_queued_launches_keep_what_they_need(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxStream* stream = new_stream(device);
  MaxBuffer* out = new_ints(device, 32);
  MaxBuffer* view = NULL;
  CHECK(maxBufferView(out, MAX_DTYPE_INT32, 1, (const int64_t[]){32}, &view));
  CHECK(maxStreamWaitForDevice(stream, device));
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  launch_on(find(module, "increment"), shape_of(1, 32), view, stream);
  maxModuleRelease(module);
  maxBufferRelease(view);
  MaxBuffer* copy = NULL;
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = stream;
  CHECK(maxBufferClone(out, NULL, &options, &copy));
  maxBufferRelease(out);
  sem_post(&gate);
  CHECK(maxStreamSynchronize(stream, 0));
  int32_t got[32];
  download(copy, got, sizeof got);
  for (int i = 0; i < 32; ++i) assert_int_equal(got[i], 1);
  sem_destroy(&gate);
  maxBufferRelease(copy);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* A host function that waits for the thread that releases a module, and calls the driver then. */
struct after_release {
  MaxBuffer* out;
  sem_t started;
  sem_t released;
  int was_released;
  MaxStatus filled;
};

static void fill_after_release(void* user_data, MaxStatus status) {
  struct after_release* after = user_data;
  struct timespec end;
  const int32_t seven = 7;
  (void)status;
  sem_post(&after->started);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 20;
  after->was_released = sem_timedwait(&after->released, &end) == 0;
  after->filled = maxBufferFill(after->out, &seven, sizeof seven, NULL);
}

/* A driver that unloads code may wait for the device, and so for host functions, with locks that their calls need. */
static void test_modules_go_beside_host_functions(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxStream* stream = new_stream(device);
  struct after_release after = {.out = new_ints(device, 32), .filled = -1};
  find(module, "nothing");
  sem_init(&after.started, 0, 0);
  sem_init(&after.released, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(stream, fill_after_release, &after));
  sem_wait(&after.started);
  maxModuleRelease(module);
  sem_post(&after.released);
  CHECK(maxStreamSynchronize(stream, 0));
  assert_true(after.was_released);
  CHECK(after.filled);
  int32_t got[32];
  download(after.out, got, sizeof got);
  for (int i = 0; i < 32; ++i) assert_int_equal(got[i], 7);
  maxBufferRelease(after.out);
  sem_destroy(&after.released);
  sem_destroy(&after.started);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* A driver that loads functions late waits for the device when one is first asked for. */
static void test_kernels_are_found_amid_work(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxStream* stream = new_stream(device);
  MaxBuffer* out = new_ints(device, 32);
  CHECK(maxStreamWaitForDevice(stream, device));
  sem_t gate;
  sem_init(&gate, 0, 0);
  CHECK(maxStreamEnqueueHostFunction(stream, wait_at_gate, &gate));
  launch_on(find(module, "increment"), shape_of(1, 32), out, stream);
  find(module, "nothing");
  sem_post(&gate);
  CHECK(maxStreamSynchronize(stream, 0));
  int32_t got[32];
  download(out, got, sizeof got);
  for (int i = 0; i < 32; ++i) assert_int_equal(got[i], 1);
  sem_destroy(&gate);
  maxBufferRelease(out);
  maxStreamRelease(stream);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

/* Launches on several streams, with one buffer and with views of it: each comes after those before it. */
static void test_launches_are_ordered_by_their_buffers(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxStream* streams[] = {new_stream(device), new_stream(device), NULL};
  MaxBuffer* out = new_ints(device, 32);
  MaxBuffer* view = NULL;
  CHECK(maxBufferView(out, MAX_DTYPE_INT32, 1, (const int64_t[]){32}, &view));
  int32_t got[32];
  for (int round = 0; round < 30; ++round) {
    const int32_t start = round;
    CHECK(maxBufferFill(out, &start, sizeof start, streams[round % 3]));
    for (int i = 0; i < 4; ++i)
      launch_on(find(module, "increment"), shape_of(1, 32), i % 2 ? view : out, streams[i % 3]);
    CHECK(maxBufferCopyToHost(view, 0, got, sizeof got, streams[round % 2]));
    for (int i = 0; i < 32; ++i) assert_int_equal(got[i], round + 4);
  }
  void* data = NULL;
  CHECK(maxBufferMapToHost(view, MAX_HOST_ACCESS_READ, &data));
  const void* arguments[] = {out};
  const size_t sizes[] = {BUFFER_ARGUMENT};
  const MaxLaunchConfig config = shape_of(1, 32);
  CHECK_FAILS(maxKernelLaunch(find(module, "increment"), &config, arguments, sizes, 1, streams[0]),
              MAX_STATUS_FAILED_PRECONDITION, "is mapped to the host for reading");
  CHECK(maxBufferUnmapFromHost(view));
  launch_on(find(module, "increment"), config, out, streams[0]);
  maxBufferRelease(view);
  maxBufferRelease(out);
  maxStreamRelease(streams[0]);
  maxStreamRelease(streams[1]);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static MaxArtifactKind executable_kind(void) {
  if (strcmp(device_api, "cuda") == 0 || strcmp(device_api, "xpu") == 0) return MAX_ARTIFACT_KIND_CUBIN;
  return strcmp(device_api, "hip") == 0 ? MAX_ARTIFACT_KIND_CODE_OBJECT : MAX_ARTIFACT_KIND_SHARED_OBJECT;
}

static void test_code_can_be_kept_and_loaded(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  const void* code = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(module, executable_kind(), &code, &size));
  MaxModule* loaded = NULL;
  CHECK(maxModuleLoadFromMemory(device, code, size, &loaded));
  maxModuleRelease(module);
  add_on_stream(device, loaded, NULL);
  maxModuleRelease(loaded);
  CHECK_FAILS(maxModuleLoadFromMemory(device, "no code at all", 14, &loaded), MAX_STATUS_INVALID_ARGUMENT, "");
  assert_null(loaded);
  maxDeviceRelease(device);
}

static void test_sources_that_do_not_compile(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = (MaxModule*)&device;
  CHECK_FAILS(maxModuleCompile(device, "\nextern \"C\" __global__ void f(int* a) {\n  a[0] = missing;\n}\n", "wrong.cu",
                               NULL, &module),
              MAX_STATUS_INVALID_ARGUMENT, "wrong.cu");
  assert_null(module);
  assert_non_null(strstr(maxGetLastErrorMessage(), "missing"));
  assert_true(strstr(maxGetLastErrorMessage(), "wrong.cu:3") || strstr(maxGetLastErrorMessage(), "wrong.cu(3)"));
  maxDeviceRelease(device);
}

/* The source begins with a mark of UTF-8. */
static void test_options(void** state) {
  (void)state;
  static const char source[] =
      "\xef\xbb\xbf#include \"lib/add.h\"\n"
      "extern \"C\" __global__ void f(int* out) { out[0] = added(START, STEP); }\n";
  const char* const names[] = {"START", "STEP"};
  const char* const values[] = {"40", NULL};
  const char* const header_names[] = {"lib/add.h"};
  const char* const header_texts[] = {"__device__ int added(int a, int b) { return a + 2 * b; }\n"};
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.defineNames = names;
  options.defineValues = values;
  options.defineCount = 2;
  options.headerNames = header_names;
  options.headerTexts = header_texts;
  options.headerCount = 1;
  options.fastMath = 1;
  options.lineInfo = 1;
  MaxDevice* device = open_device();
  MaxModule* module = NULL;
  CHECK(maxModuleCompile(device, source, NULL, &options, &module));
  MaxBuffer* out = new_ints(device, 1);
  launch_on(find(module, "f"), shape_of(1, 1), out, NULL);
  int32_t got = 0;
  download(out, &got, sizeof got);
  assert_int_equal(got, 42);
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static void expect_refused(const MaxKernel* kernel, MaxLaunchConfig config, MaxBuffer* buffer, MaxStream* stream,
                           const char* text) {
  const void* arguments[] = {buffer};
  const size_t sizes[] = {BUFFER_ARGUMENT};
  CHECK_FAILS(maxKernelLaunch(kernel, &config, arguments, sizes, 1, stream), MAX_STATUS_INVALID_ARGUMENT, text);
}

static void test_wrong_launches(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  MaxKernel* kernel = find(module, "increment");
  MaxBuffer* out = new_ints(device, 64);
  expect_refused(kernel, shape_of(-1, 1), out, NULL, "-1");
  expect_refused(kernel, shape_of(1, -1), out, NULL, "-1");
  expect_refused(kernel, shape_of(1, 2000), out, NULL, "2000");
  MaxLaunchConfig config = shape_of(1, 64);
  config.block[1] = 64;
  expect_refused(kernel, config, out, NULL, "4096");
  config = shape_of(1, 1);
  config.grid[1] = 1 << 20;
  expect_refused(kernel, config, out, NULL, "1048576");
  config = shape_of(1, 1);
  config.sharedByteCount = (size_t)1 << 40;
  expect_refused(kernel, config, out, NULL, "1099511627776");
  CHECK_FAILS(maxModuleGetKernel(module, "decrement", &kernel), MAX_STATUS_NOT_FOUND, "decrement");
  launch_on(find(module, "increment"), shape_of(1, 64), out, NULL); /* nothing is spoilt */
  int32_t got[64];
  download(out, got, sizeof got);
  for (int i = 0; i < 64; ++i) assert_int_equal(got[i], 1);
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

/* The code of the fake HIP compiler does not tell about parameters. */
static void test_wrong_arguments(void** state) {
  (void)state;
  struct fake_driver driver;
  if (strcmp(device_api, "hip") == 0 && find_fake_driver(device_api, &driver)) skip();
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  const MaxKernel* kernel = find(module, "increment");
  MaxBuffer* out = new_ints(device, 1);
  const int32_t number = 3;
  const MaxLaunchConfig config = shape_of(1, 1);
  const void* arguments[] = {out, &number};
  const size_t sizes[] = {BUFFER_ARGUMENT, sizeof number};
  CHECK_FAILS(maxKernelLaunch(kernel, &config, arguments, sizes, 2, NULL), MAX_STATUS_INVALID_ARGUMENT, "2");
  CHECK_FAILS(maxKernelLaunch(kernel, &config, arguments, sizes, 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "0");
  CHECK_FAILS(maxKernelLaunch(kernel, &config, &arguments[1], &sizes[1], 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "4");
  const MaxLaunchConfig one = shape_of(1, 1);
  CHECK(maxKernelLaunch(find(module, "nothing"), &one, NULL, NULL, 0, NULL));
  CHECK(maxDeviceSynchronize(device, 0));
  maxBufferRelease(out);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

/* The host's memory, and a second device where there is one. */
static void test_other_devices(void** state) {
  (void)state;
  int32_t count = 0;
  CHECK(maxDeviceGetCount(device_api, &count));
  if (count < 2) skip();
  MaxDevice* device = open_device();
  MaxDevice* other = NULL;
  CHECK(maxDeviceCreate(device_api, 1, NULL, &other));
  MaxModule* module = compile(device, basics);
  MaxBuffer* here = new_ints(device, 1);
  MaxBuffer* there = new_ints(other, 1);
  MaxStream* stream = new_stream(other);
  expect_refused(find(module, "increment"), shape_of(1, 1), there, NULL, ":1");
  expect_refused(find(module, "increment"), shape_of(1, 1), here, stream, ":1");
  CHECK(maxStreamSynchronize(stream, 0));
  maxStreamRelease(stream);
  maxBufferRelease(here);
  maxBufferRelease(there);
  maxModuleRelease(module);
  maxDeviceRelease(other);
  maxDeviceRelease(device);
}

static void test_attributes(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, basics);
  const MaxKernel* kernel = find(module, "add");
  assert_ptr_equal(kernel, find(module, "add"));
  int64_t value = -1;
  CHECK(maxKernelGetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
  assert_true(value >= 32 && value <= 1024);
  if (strcmp(device_api, "cpu") != 0) {
    CHECK(maxKernelGetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_SHARED_SIZE, &value));
    assert_int_equal(value, 0);
  }
  assert_true(maxKernelSetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_REGISTERS, 3) != MAX_STATUS_OK);
  const char* name = NULL;
  CHECK(maxKernelGetName(kernel, &name));
  assert_string_equal(name, "add");
  maxModuleRelease(module);
  maxDeviceRelease(device);
}

static int has_kernels(void) {
  MaxDevice* device = NULL;
  MaxModule* module = NULL;
  MaxStatus status = maxDeviceCreate(device_api, -1, NULL, &device);
  if (status == MAX_STATUS_OK)
    status = maxModuleCompile(device, "extern \"C\" __global__ void f() {}\n", NULL, NULL, &module);
  if (status != MAX_STATUS_OK) fprintf(stderr, "%s\n", maxGetLastErrorMessage());
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return status != MAX_STATUS_UNAVAILABLE;
}

int main(int argc, char** argv) {
  if (argc > 1) device_api = argv[1];
  if (!has_kernels()) return 77;
  const struct CMUnitTest tests[] = {
      TEST(test_adds),
      TEST(test_arguments_of_all_kinds),
      TEST(test_three_dimensions),
      TEST(test_shared_memory_and_barriers),
      TEST(test_much_shared_memory),
      TEST(test_warps_and_atomics),
      TEST(test_whole_warps),
      TEST(test_groups_in_warps),
      TEST(test_tiles),
      TEST(test_halves),
      TEST(test_variables),
      TEST(test_queued_launches_keep_what_they_need),
      TEST(test_modules_go_beside_host_functions),
      TEST(test_kernels_are_found_amid_work),
      TEST(test_launches_are_ordered_by_their_buffers),
      TEST(test_code_can_be_kept_and_loaded),
      TEST(test_sources_that_do_not_compile),
      TEST(test_options),
      TEST(test_wrong_launches),
      TEST(test_wrong_arguments),
      TEST(test_other_devices),
      TEST(test_attributes),
      TEST(test_borrowed_arguments),
      TEST(test_hints),
      TEST(test_clusters),
      TEST(test_cooperative_launches),
      TEST(test_ptx),
      TEST(test_chips),
      TEST(test_damaged_code),
      TEST(test_random_kernels),
      TEST(test_kernels_of_virtual_devices),
  };
  return RUN_GROUP(tests, NULL, check_fake_driver);
}
