/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "check.h"

/* One kernel for each thing that is tested: compiled once. */
static const char* const source =
    "#include <cuda_fp16.h>\n"
    "__constant__ float factors[4];\n"
    "__device__ int total;\n"
    "struct pair { float first; int second; };\n"
    "extern \"C\" __global__ void add(const float* a, const float* b, float* c, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) c[i] = a[i] + b[i];\n"
    "}\n"
    "extern \"C\" __global__ void scale(float* x, pair p) { x[threadIdx.x] *= factors[p.second] * p.first; }\n"
    "extern \"C\" __global__ void count(int n) { if (blockIdx.x * blockDim.x + threadIdx.x < n) atomicAdd(&total, 1); "
    "}\n"
    "extern \"C\" __global__ void read(int* out) { *out = total; }\n"
    "extern \"C\" __global__ void __launch_bounds__(128) reverse(int* x) {\n"
    "  extern __shared__ int tile[];\n"
    "  tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];\n"
    "  __syncthreads();\n"
    "  x[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void sum(const float* x, float* out) {\n"
    "  __shared__ float parts[32];\n"
    "  float value = x[blockIdx.x * blockDim.x + threadIdx.x];\n"
    "  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);\n"
    "  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x >= 32) return;\n"
    "  value = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;\n"
    "  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);\n"
    "  if (threadIdx.x == 0) out[blockIdx.x] = value;\n"
    "}\n"
    "extern \"C\" __global__ void half_add(__half* x) { x[threadIdx.x] = x[threadIdx.x] + __float2half(1.5f); }\n"
    "extern \"C\" __global__ void places(unsigned* out) {\n"
    "  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
    "  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
    "  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;\n"
    "}\n"
    "extern \"C\" __global__ void stuck() { if (threadIdx.x < 3) __syncthreads(); else __syncwarp(); }\n"
    "extern \"C\" __global__ void checked(int limit) { assert((int)threadIdx.x < limit); }\n"
    "struct large { int values[500]; };\n"
    "extern \"C\" __global__ void pick(int* out, large all, int i) { *out = all.values[i]; }\n"
    "extern \"C\" __global__ void nothing() {}\n";

struct module {
  MaxDevice* device;
  MaxModule* module;
};

static struct module shared;

static int compile_shared(void** state) {
  (void)state;
  shared.device = open_cpu();
  CHECK(maxModuleCompile(shared.device, source, "test.cu", NULL, &shared.module));
  return 0;
}

static int release_shared(void** state) {
  maxModuleRelease(shared.module);
  maxDeviceRelease(shared.device);
  return check_no_leaks(state);
}

/* No object is left that was not there when the test began. */
static int64_t live_before;

static int note_objects(void** state) {
  (void)state;
  live_before = live_objects();
  return 0;
}

static int check_objects(void** state) {
  (void)state;
  assert_int_equal(live_objects(), live_before);
  return 0;
}

#define SHARED_TEST(function) cmocka_unit_test_setup_teardown(function, note_objects, check_objects)

static MaxKernel* kernel_of(const char* name) {
  MaxKernel* kernel = NULL;
  CHECK(maxModuleGetKernel(shared.module, name, &kernel));
  assert_non_null(kernel);
  return kernel;
}

static MaxLaunchConfig shape(int32_t grid, int32_t block) {
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = grid;
  config.block[0] = block;
  return config;
}

/* Buffers by handle, values by address. */
static const size_t buffer = MAX_KERNEL_ARGUMENT_BUFFER;

static MaxStatus launch_add(MaxLaunchConfig config, MaxBuffer* a, MaxBuffer* b, MaxBuffer* c, int32_t n,
                            MaxStream* stream) {
  return maxKernelLaunch(kernel_of("add"), &config, (const void*[]){a, b, c, &n},
                         (const size_t[]){buffer, buffer, buffer, sizeof n}, 4, stream);
}

static void test_vector_add(void** state) {
  (void)state;
  MaxBuffer* a = new_vector(1000, 0.0f);
  MaxBuffer* b = new_vector(1000, 5.0f);
  MaxBuffer* c = new_vector(1000, 0.0f);
  CHECK(launch_add(shape(8, 128), a, b, c, 1000, NULL));
  const float* sums = data_of(c);
  for (int i = 0; i < 1000; ++i) assert_true(sums[i] == 2.0f * (float)i + 5.0f);
  maxBufferRelease(a);
  maxBufferRelease(b);
  maxBufferRelease(c);
}

static void test_dimensions(void** state) {
  (void)state;
  uint32_t out[2 * 3 * 2 * 4 * 3 * 2] = {0};
  uint32_t* address = out;
  MaxLaunchConfig config = shape(2, 4);
  config.grid[1] = 3;
  config.grid[2] = 2;
  config.block[1] = 3;
  config.block[2] = 2;
  CHECK(maxKernelLaunch(kernel_of("places"), &config, (const void*[]){&address}, NULL, 1, NULL));
  for (uint32_t i = 0; i < COUNT_OF(out); ++i) assert_int_equal(out[i], i / 24 * 1000 + i % 24);
}

static void test_barriers_and_dynamic_shared_memory(void** state) {
  (void)state;
  int32_t values[64 * 5];
  for (int i = 0; i < (int)COUNT_OF(values); ++i) values[i] = i;
  int32_t* address = values;
  MaxLaunchConfig config = shape(5, 64);
  config.sharedBytes = 64 * sizeof(int32_t);
  CHECK(maxKernelLaunch(kernel_of("reverse"), &config, (const void*[]){&address}, NULL, 1, NULL));
  for (int i = 0; i < (int)COUNT_OF(values); ++i) assert_int_equal(values[i], i / 64 * 64 + 63 - i % 64);
}

static void test_shuffles(void** state) {
  (void)state;
  MaxBuffer* x = new_vector(256 * 3, 1.0f);
  MaxBuffer* out = new_vector(3, 0.0f);
  const MaxLaunchConfig config = shape(3, 256);
  CHECK(maxKernelLaunch(kernel_of("sum"), &config, (const void*[]){x, out}, (const size_t[]){buffer, buffer}, 2, NULL));
  const float* sums = data_of(out);
  for (int i = 0; i < 3; ++i) assert_true(sums[i] == 256.0f * (256.0f * (float)i + 128.5f));
  maxBufferRelease(x);
  maxBufferRelease(out);
}

/* Arguments are values of any size, structures too. */
static void test_constants_and_structures(void** state) {
  (void)state;
  const float factors[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  struct pair {
    float first;
    int32_t second;
  } pair = {0.5f, 2};
  CHECK(maxModuleSetConstant(shared.module, "factors", factors, sizeof factors, NULL));
  float values[4] = {2.0f, 4.0f, 6.0f, 8.0f};
  float* address = values;
  const MaxLaunchConfig config = shape(1, 4);
  CHECK(maxKernelLaunch(kernel_of("scale"), &config, (const void*[]){&address, &pair},
                        (const size_t[]){sizeof address, sizeof pair}, 2, NULL));
  for (int i = 0; i < 4; ++i) assert_true(values[i] == (2.0f + 2.0f * (float)i) * 1.5f);
  CHECK_FAILS(maxModuleSetConstant(shared.module, "factors", factors, 17, NULL), MAX_STATUS_OUT_OF_RANGE, "16 bytes");
  CHECK_FAILS(maxModuleSetConstant(shared.module, "nothing", factors, 4, NULL), MAX_STATUS_NOT_FOUND, "'nothing'");
  CHECK_FAILS(maxModuleSetConstant(shared.module, "printf", factors, 4, NULL), MAX_STATUS_NOT_FOUND, "'printf'");
  CHECK_FAILS(maxModuleSetConstant(shared.module, "factors", NULL, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "'data'");
}

/* A variable is set, counted up by many blocks and read, all in the order of a stream. */
static void test_work_in_stream_order(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  int32_t seen[20] = {0};
  const MaxLaunchConfig many = shape(40, 64), one = shape(1, 1);
  for (int32_t i = 0; i < 20; ++i) {
    const int32_t n = 2000 + i;
    int32_t* address = &seen[i];
    CHECK(maxModuleSetConstant(shared.module, "total", &i, sizeof i, stream));
    CHECK(maxKernelLaunch(kernel_of("count"), &many, (const void*[]){&n}, NULL, 1, stream));
    CHECK(maxKernelLaunch(kernel_of("read"), &one, (const void*[]){&address}, NULL, 1, stream));
  }
  CHECK(maxStreamSynchronize(stream));
  for (int i = 0; i < 20; ++i) assert_int_equal(seen[i], 2000 + 2 * i);
  maxStreamRelease(stream);
}

static void test_large_arguments(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  int32_t out[500], all[500];
  const MaxLaunchConfig config = shape(1, 1);
  for (int32_t i = 0; i < 500; ++i) {
    int32_t* address = &out[i];
    for (int k = 0; k < 500; ++k) all[k] = i * k;
    CHECK(maxKernelLaunch(kernel_of("pick"), &config, (const void*[]){&address, all, &i}, NULL, 3, stream));
  }
  CHECK(maxStreamSynchronize(stream));
  for (int i = 0; i < 500; ++i) assert_int_equal(out[i], i * i);
  maxStreamRelease(stream);
}

static void sleep_a_little(void* user_data, MaxStatus status) {
  (void)user_data;
  (void)status;
  const struct timespec time = {0, 5000000};
  nanosleep(&time, NULL);
}

static void test_queued_launches_keep_buffers_and_module(void** state) {
  (void)state;
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  MaxStream* stream = NULL;
  CHECK(maxModuleCompile(shared.device, source, "test.cu", NULL, &module));
  CHECK(maxModuleGetKernel(module, "add", &kernel));
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_a_little, NULL));
  MaxBuffer* a = new_vector(64, 1.0f);
  MaxBuffer* b = new_vector(64, 2.0f);
  MaxBuffer* c = new_vector(64, 0.0f);
  int32_t n = 64;
  const MaxLaunchConfig config = shape(1, 64);
  CHECK(maxKernelLaunch(kernel, &config, (const void*[]){a, b, c, &n}, (const size_t[]){buffer, buffer, buffer, 4}, 4,
                        stream));
  n = 0; /* the value was copied */
  maxBufferRelease(a);
  maxBufferRelease(b);
  maxModuleRelease(module);
  CHECK(maxStreamSynchronize(stream));
  assert_true(((const float*)data_of(c))[63] == 64.0f + 65.0f);
  maxBufferRelease(c);
  maxStreamRelease(stream);
}

static void test_half_precision(void** state) {
  (void)state;
  uint16_t values[2] = {0x3c00, 0xc000}; /* 1, -2 */
  uint16_t* address = values;
  const MaxLaunchConfig config = shape(1, 2);
  CHECK(maxKernelLaunch(kernel_of("half_add"), &config, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(values[0], 0x4100);
  assert_int_equal(values[1], 0xb800);
}

static MaxStatus launch_shape(const char* kernel, MaxLaunchConfig config) {
  return maxKernelLaunch(kernel_of(kernel), &config, NULL, NULL, 0, NULL);
}

static void test_dimensions_are_checked(void** state) {
  (void)state;
  CHECK(launch_shape("nothing", shape(3, 1024)));
  CHECK_FAILS(launch_shape("nothing", shape(0, 1)), MAX_STATUS_INVALID_ARGUMENT, "Grid (0, 1, 1)");
  CHECK_FAILS(launch_shape("nothing", shape(-2, 1)), MAX_STATUS_INVALID_ARGUMENT, "-2 blocks");
  CHECK_FAILS(launch_shape("nothing", shape(1, 0)), MAX_STATUS_INVALID_ARGUMENT, "Block (0, 1, 1)");
  CHECK_FAILS(launch_shape("nothing", shape(1, 1025)), MAX_STATUS_INVALID_ARGUMENT, "1 to 1024");
  MaxLaunchConfig config = shape(1, 64);
  config.block[1] = 17;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "1088 threads");
  config = shape(1, 1);
  config.grid[1] = 65536;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "65535");
  config = shape(2, 1);
  config.cluster[0] = 2;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "Cluster is (2, 0, 0)");
  config.cluster[1] = config.cluster[2] = 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_UNIMPLEMENTED, "clusters");
  config = shape(1, 1);
  config.cooperative = 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_UNIMPLEMENTED, "cooperatively");
  config.cooperative = 7;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "cooperative is 7");
  config = shape(1, 1);
  config.reserved = 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_UNIMPLEMENTED, "reserved");
  config = shape(1, 1);
  config.accessBase = &config;
  config.hitRatio = 1.5f;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "hitRatio is 1.5");
  config.hitRatio = 0.5f;
  config.missProperty = 3;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "0 and 3");
}

static void test_shared_memory_is_checked(void** state) {
  (void)state;
  const MaxKernelAttribute limit = MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE;
  MaxKernel* kernel = kernel_of("nothing");
  int64_t value = 0;
  CHECK(maxKernelGetAttribute(kernel, limit, &value));
  assert_int_equal(value, 48 << 10);
  MaxLaunchConfig config = shape(1, 1);
  config.sharedBytes = (48 << 10) + 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "49153 bytes");
  config.sharedBytes = (size_t)-1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "49152");
  CHECK_FAILS(maxKernelSetAttribute(kernel, limit, (227 << 10) + 1), MAX_STATUS_INVALID_ARGUMENT, "0 to 232448");
  CHECK_FAILS(maxKernelSetAttribute(kernel, limit, -1), MAX_STATUS_INVALID_ARGUMENT, "-1 bytes");
  CHECK(maxKernelSetAttribute(kernel, limit, 227 << 10));
  config.sharedBytes = 227 << 10;
  CHECK(launch_shape("nothing", config));
  CHECK(maxKernelSetAttribute(kernel, limit, 48 << 10));
}

static void test_attributes(void** state) {
  (void)state;
  int64_t value = 0;
  CHECK(maxKernelGetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
  assert_int_equal(value, 1024);
  CHECK(maxKernelGetAttribute(kernel_of("reverse"), MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
  assert_int_equal(value, 128);
  CHECK_FAILS(launch_shape("reverse", shape(1, 129)), MAX_STATUS_INVALID_ARGUMENT, "128");
  CHECK_FAILS(maxKernelGetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_REGISTERS, &value),
              MAX_STATUS_UNIMPLEMENTED, "attribute 4");
  CHECK_FAILS(maxKernelSetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_REGISTERS, 3), MAX_STATUS_UNIMPLEMENTED,
              "cannot be set");
  CHECK(maxKernelSetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, 50));
  CHECK(maxKernelGetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, &value));
  assert_int_equal(value, 50);
  CHECK_FAILS(maxKernelSetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, 101),
              MAX_STATUS_INVALID_ARGUMENT, "101 percent");
  CHECK_FAILS(maxKernelGetAttribute(kernel_of("nothing"), 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "outValue");
}

static void test_arguments_are_checked(void** state) {
  (void)state;
  MaxBuffer* a = new_vector(8, 0.0f);
  const int32_t n = 8;
  const int64_t wide = 8;
  const MaxLaunchConfig config = shape(1, 8);
  MaxKernel* add = kernel_of("add");
  const void* arguments[] = {a, a, a, &n, &n};
  size_t sizes[] = {buffer, buffer, buffer, sizeof n, sizeof n};
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 3, NULL), MAX_STATUS_INVALID_ARGUMENT, "given 3");
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 5, NULL), MAX_STATUS_INVALID_ARGUMENT, "4 parameters");
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, -1, NULL), MAX_STATUS_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(maxKernelLaunch(add, &config, NULL, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "arguments");
  CHECK_FAILS(maxKernelLaunch(NULL, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "kernel");
  CHECK_FAILS(maxKernelLaunch(add, NULL, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "config");
  arguments[3] = &wide;
  sizes[3] = sizeof wide;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 3 of kernel 'add' has 8 bytes; the parameter has 4");
  arguments[3] = a;
  sizes[3] = buffer;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "has 8 bytes");
  arguments[3] = NULL;
  sizes[3] = sizeof n;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 3 of kernel 'add' is NULL");
  maxBufferRelease(a);
}

static void test_strings_are_no_arguments(void** state) {
  (void)state;
  MaxBuffer* strings = NULL;
  CHECK(maxBufferCreateStrings(shared.device, (const char* const[]){"a"}, (const size_t[]){1}, 1, (const int64_t[]){1},
                               &strings));
  const MaxLaunchConfig config = shape(1, 1);
  CHECK_FAILS(maxKernelLaunch(kernel_of("read"), &config, (const void*[]){strings}, &buffer, 1, NULL),
              MAX_STATUS_INVALID_ARGUMENT, "strings");
  maxBufferRelease(strings);
}

static void test_threads_that_wait_for_ever_or_stop(void** state) {
  (void)state;
  CHECK_FAILS(launch_shape("stuck", shape(2, 8)), MAX_STATUS_FAILED_PRECONDITION, "3 of 8 threads wait at a barrier");
  const MaxLaunchConfig config = shape(1, 8);
  int32_t limit = 5;
  MaxKernel* checked = kernel_of("checked");
  CHECK_FAILS(maxKernelLaunch(checked, &config, (const void*[]){&limit}, NULL, 1, NULL), MAX_STATUS_FAILED_PRECONDITION,
              "Thread 5 of block (0, 0, 0) of kernel 'checked' stopped at test.cu:");
  const MaxLaunchConfig many = shape(500, 8);
  CHECK_FAILS(maxKernelLaunch(checked, &many, (const void*[]){&limit}, NULL, 1, NULL), MAX_STATUS_FAILED_PRECONDITION,
              "Thread 5 of block");
  /* On a stream it is the stream's failure, once. */
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  CHECK(maxKernelLaunch(checked, &config, (const void*[]){&limit}, NULL, 1, stream));
  CHECK_FAILS(maxStreamSynchronize(stream), MAX_STATUS_FAILED_PRECONDITION, "'checked'");
  limit = 8;
  CHECK(maxKernelLaunch(checked, &config, (const void*[]){&limit}, NULL, 1, stream));
  CHECK(maxStreamSynchronize(stream));
  maxStreamRelease(stream);
  /* Barriers still work. */
  test_barriers_and_dynamic_shared_memory(state);
}

static void test_kernels_are_parts_of_their_module(void** state) {
  (void)state;
  MaxKernel* kernel = kernel_of("add");
  assert_ptr_equal(kernel, kernel_of("add"));
  MaxModule* module = NULL;
  const char* name = NULL;
  MaxDevice* device = NULL;
  CHECK(maxKernelGetModule(kernel, &module));
  assert_ptr_equal(module, shared.module);
  CHECK(maxKernelGetName(kernel, &name));
  assert_string_equal(name, "add");
  CHECK(maxModuleGetDevice(module, &device));
  assert_ptr_equal(device, shared.device);
  maxKernelRetain(kernel);
  maxKernelRelease(kernel);
  maxKernelRetain(NULL);
  maxKernelRelease(NULL);
  maxModuleRetain(NULL);
  maxModuleRelease(NULL);
  MaxKernel* missing = kernel;
  CHECK_FAILS(maxModuleGetKernel(module, "missing", &missing), MAX_STATUS_NOT_FOUND,
              "Module test.cu has no kernel 'missing'");
  assert_null(missing);
}

static void test_errors_of_the_source(void** state) {
  (void)state;
  MaxModule* module = shared.module;
  const char* const wrong =
      "__device__ int fine() { return 1; }\n"
      "extern \"C\" __global__ void broken(float* x) {\n"
      "  x[0] = fine() + nowhere;\n"
      "}\n";
  CHECK_FAILS(maxModuleCompile(shared.device, wrong, "broken.cu", NULL, &module), MAX_STATUS_INVALID_ARGUMENT,
              "broken.cu does not compile: broken.cu:3:");
  assert_null(module);
  const char* message = maxGetLastErrorMessage();
  assert_non_null(strchr(message, '\n'));
  assert_non_null(strstr(strchr(message, '\n'), "nowhere"));
  CHECK_FAILS(maxModuleCompile(shared.device, "#include <missing.h>\n", NULL, NULL, &module),
              MAX_STATUS_INVALID_ARGUMENT, "kernel.cu does not compile: kernel.cu:1:");
  CHECK_FAILS(maxModuleCompile(shared.device, "__global__ int f() { return 1; }", NULL, NULL, &module),
              MAX_STATUS_INVALID_ARGUMENT, "a __global__ function must have a void return type");
  CHECK_FAILS(maxModuleCompile(shared.device, NULL, NULL, NULL, &module), MAX_STATUS_INVALID_ARGUMENT, "source");
  CHECK_FAILS(maxModuleCompile(NULL, "", NULL, NULL, &module), MAX_STATUS_INVALID_ARGUMENT, "device");
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outModule");
  CHECK_FAILS(maxModuleCompile(shared.device,
                               "extern \"C\" __global__ void deep(float* x) {\n  float all[1 << 20];\n"
                               "  for (int i = 0; i < 1 << 20; ++i) all[i] = x[i];\n"
                               "  for (int i = 0; i < 1 << 20; ++i) x[i] = all[(int)x[i] & 1023];\n}\n",
                               "deep.cu", NULL, &module),
              MAX_STATUS_INVALID_ARGUMENT, "frame");
}

/* Programs that never wait for children, or for all of them, leave none for the library to wait for. */
static void test_children_that_nobody_waits_for(void** state) {
  (void)state;
  MaxModule* module = NULL;
  void (*before)(int) = signal(SIGCHLD, SIG_IGN);
  const MaxStatus right = maxModuleCompile(shared.device, "// left alone", "alone.cu", NULL, &module);
  maxModuleRelease(module);
  CHECK_FAILS(maxModuleCompile(shared.device, "int x = y; // left alone", "alone.cu", NULL, &module),
              MAX_STATUS_INVALID_ARGUMENT, "alone.cu:1:");
  signal(SIGCHLD, before);
  CHECK(right);
}

static void test_options(void** state) {
  (void)state;
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  const char* const names[] = {"VALUE", "ON"};
  const char* const values[] = {"(2 + 5)", NULL};
  const char* const headers[] = {"parts/one.h"};
  const char* const texts[] = {"#pragma once\n__device__ inline int twice(int x) { return 2 * x; }\n"};
  const char* const flags[] = {"-DEXTRA=100"};
  options.defineNames = names;
  options.defineValues = values;
  options.defineCount = 2;
  options.headerNames = headers;
  options.headerTexts = texts;
  options.headerCount = 1;
  options.flags = flags;
  options.flagCount = 1;
  options.fastMath = options.lineInfo = 1;
  const char* const text =
      "#include \"parts/one.h\"\n"
      "namespace inner { extern \"C\" __global__ void get(int* out) { *out = twice(VALUE) + ON + EXTRA; } }\n";
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  CHECK(maxModuleCompile(shared.device, text, "dir/options.cu", &options, &module));
  CHECK(maxModuleGetKernel(module, "get", &kernel));
  int32_t result = 0;
  int32_t* address = &result;
  const MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  CHECK(maxKernelLaunch(kernel, &config, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(result, 115);
  maxModuleRelease(module);
}

static void test_bad_options(void** state) {
  (void)state;
  MaxModule* module = NULL;
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.defineCount = -1;
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT,
              "defineCount of MaxModuleOptions is -1");
  options.defineCount = 1;
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT, "defineNames");
  const char* name = "A=B";
  options.defineNames = &name;
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT, "'A=B'");
  options.defineCount = 0;
  options.headerCount = 1;
  const char* header = "../outside.h";
  const char* text = "";
  options.headerNames = &header;
  options.headerTexts = &text;
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT,
              "'../outside.h'");
  options.headerCount = 0;
  options.fastMath = 2;
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT, "fastMath");
  options.fastMath = 0;
  options.architecture = "sm_90";
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, &options, &module), MAX_STATUS_INVALID_ARGUMENT, "sm_90");
}

static void test_artifacts_and_loading(void** state) {
  (void)state;
  const void *assembly = NULL, *again = NULL, *code = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_ASSEMBLY, &assembly, &size));
  assert_non_null(strstr(assembly, "reverse"));
  assert_int_equal(strlen(assembly), size);
  CHECK(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_ASSEMBLY, &again, &size));
  assert_ptr_equal(assembly, again);
  CHECK(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_LOG, &again, &size));
  if (maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_LLVM_IR, &again, &size) == MAX_STATUS_OK)
    assert_non_null(strstr(again, "define"));
  else
    assert_non_null(strstr(maxGetLastErrorMessage(), "has no LLVM IR"));
  CHECK_FAILS(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_PTX, &again, &size), MAX_STATUS_UNIMPLEMENTED,
              "has no PTX");
  assert_null(again);
  CHECK_FAILS(maxModuleGetArtifact(shared.module, 99, &again, &size), MAX_STATUS_INVALID_ARGUMENT, "99");
  CHECK(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_SHARED_OBJECT, &code, &size));
  MaxModule* loaded = NULL;
  MaxKernel* kernel = NULL;
  CHECK(maxModuleLoad(shared.device, code, size, &loaded));
  CHECK(maxModuleGetKernel(loaded, "count", &kernel));
  const int32_t n = 30;
  const MaxLaunchConfig config = shape(2, 20);
  CHECK(maxKernelLaunch(kernel, &config, (const void*[]){&n}, NULL, 1, NULL));
  CHECK_FAILS(maxModuleGetArtifact(loaded, MAX_ARTIFACT_KIND_ASSEMBLY, &again, &size), MAX_STATUS_FAILED_PRECONDITION,
              "loaded as shared object");
  /* Its variables are its own. */
  int32_t total = -1;
  int32_t* address = &total;
  CHECK(maxModuleGetKernel(loaded, "read", &kernel));
  CHECK(maxKernelLaunch(kernel, &config, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(total, 30);
  maxModuleRelease(loaded);
  CHECK_FAILS(maxModuleLoad(shared.device, "PTX", 3, &loaded), MAX_STATUS_INVALID_ARGUMENT, "3 bytes");
  CHECK_FAILS(maxModuleLoad(shared.device, "\177ELF and so on", 14, &loaded), MAX_STATUS_INVALID_ARGUMENT, "cut off");
  for (size_t cut = 4; cut < size; cut += size / 97)
    CHECK_FAILS(maxModuleLoad(shared.device, code, cut, &loaded), MAX_STATUS_INVALID_ARGUMENT, "cut off");
  unsigned char* changed = malloc(size);
  assert_non_null(changed);
  memcpy(changed, code, size);
  changed[18] ^= 1; /* another machine's */
  CHECK_FAILS(maxModuleLoad(shared.device, changed, size, &loaded), MAX_STATUS_INVALID_ARGUMENT, "cannot be loaded");
  free(changed);
  CHECK_FAILS(maxModuleLoad(shared.device, NULL, 0, &loaded), MAX_STATUS_INVALID_ARGUMENT, "data");
}

static int descriptor_count(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  assert_non_null(folder);
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

/* Many modules of the same code, some alive at the same time: each has variables of its own, and none a descriptor. */
static void test_many_modules(void** state) {
  (void)state;
  const void* code = NULL;
  size_t size = 0;
  CHECK(maxModuleGetArtifact(shared.module, MAX_ARTIFACT_KIND_SHARED_OBJECT, &code, &size));
  MaxModule* modules[100] = {NULL};
  const int before = descriptor_count();
  const MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  for (int32_t i = 0; i < 200; ++i) {
    MaxModule** module = &modules[i * 37 % 100];
    maxModuleRelease(*module);
    CHECK(maxModuleLoad(shared.device, code, size, module));
    const int32_t value = i * 37 % 100;
    CHECK(maxModuleSetConstant(*module, "total", &value, sizeof value, NULL));
  }
  assert_int_equal(descriptor_count(), before);
  for (int32_t i = 0; i < 100; ++i) {
    MaxKernel* kernel = NULL;
    int32_t total = -1;
    int32_t* address = &total;
    CHECK(maxModuleGetKernel(modules[i], "read", &kernel));
    CHECK(maxKernelLaunch(kernel, &config, (const void*[]){&address}, NULL, 1, NULL));
    assert_int_equal(total, i);
    maxModuleRelease(modules[i]);
  }
}

static void* launch_often(void* failures) {
  int32_t values[96];
  int32_t* address = values;
  MaxLaunchConfig config = shape(3, 32);
  config.sharedBytes = 32 * sizeof(int32_t);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 96; ++i) values[i] = i;
    if (maxKernelLaunch(kernel_of("reverse"), &config, (const void*[]){&address}, NULL, 1, NULL) != MAX_STATUS_OK)
      ++*(int*)failures;
    for (int i = 0; i < 96; ++i) *(int*)failures += values[i] != i / 32 * 32 + 31 - i % 32;
  }
  return NULL;
}

static void test_launches_from_many_threads(void** state) {
  (void)state;
  pthread_t threads[4];
  int failures[4] = {0};
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &failures[i]), 0);
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 4; ++i) assert_int_equal(failures[i], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SHARED_TEST(test_vector_add),
      SHARED_TEST(test_dimensions),
      SHARED_TEST(test_barriers_and_dynamic_shared_memory),
      SHARED_TEST(test_shuffles),
      SHARED_TEST(test_constants_and_structures),
      SHARED_TEST(test_work_in_stream_order),
      SHARED_TEST(test_large_arguments),
      SHARED_TEST(test_queued_launches_keep_buffers_and_module),
      SHARED_TEST(test_half_precision),
      SHARED_TEST(test_dimensions_are_checked),
      SHARED_TEST(test_shared_memory_is_checked),
      SHARED_TEST(test_attributes),
      SHARED_TEST(test_arguments_are_checked),
      SHARED_TEST(test_strings_are_no_arguments),
      SHARED_TEST(test_threads_that_wait_for_ever_or_stop),
      SHARED_TEST(test_kernels_are_parts_of_their_module),
      SHARED_TEST(test_errors_of_the_source),
      SHARED_TEST(test_children_that_nobody_waits_for),
      SHARED_TEST(test_options),
      SHARED_TEST(test_bad_options),
      SHARED_TEST(test_artifacts_and_loading),
      SHARED_TEST(test_many_modules),
      SHARED_TEST(test_launches_from_many_threads),
  };
  return cmocka_run_group_tests(tests, compile_shared, release_shared);
}
