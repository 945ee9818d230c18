/* SPDX-License-Identifier: Apache-2.0 */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      SHARED_TEST(test_vector_add),
      SHARED_TEST(test_dimensions),
      SHARED_TEST(test_barriers_and_dynamic_shared_memory),
      SHARED_TEST(test_shuffles),
  };
  return cmocka_run_group_tests(tests, compile_shared, release_shared);
}
