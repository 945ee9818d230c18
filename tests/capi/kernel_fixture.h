/* SPDX-License-Identifier: Apache-2.0 */
/* A module with one kernel for each thing that tests of modules and kernels look at; compiled once in a program. */
#ifndef MAX_TESTS_CAPI_KERNEL_FIXTURE_H
#define MAX_TESTS_CAPI_KERNEL_FIXTURE_H

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

static inline int compile_shared(void** state) {
  (void)state;
  shared.device = open_cpu();
  CHECK(maxModuleCompile(shared.device, source, "test.cu", NULL, &shared.module));
  return 0;
}

static inline int release_shared(void** state) {
  maxModuleRelease(shared.module);
  maxDeviceRelease(shared.device);
  return check_no_leaks(state);
}

/* No object is left that was not there when the test began. */
static int64_t live_before;

static inline int note_objects(void** state) {
  (void)state;
  live_before = live_objects();
  return 0;
}

static inline int check_objects(void** state) {
  (void)state;
  assert_int_equal(live_objects(), live_before);
  return 0;
}

#define SHARED_TEST(function) cmocka_unit_test_setup_teardown(function, note_objects, check_objects)

static inline MaxKernel* kernel_of(const char* name) {
  MaxKernel* kernel = NULL;
  CHECK(maxModuleGetKernel(shared.module, name, &kernel));
  assert_non_null(kernel);
  return kernel;
}

static inline MaxLaunchConfig shape(int32_t grid, int32_t block) {
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = grid;
  config.block[0] = block;
  return config;
}

#endif
