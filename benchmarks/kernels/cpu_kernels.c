/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels on the CPU: what an empty launch costs, simple kernels beside the same loops in C, and compiling them.
 *
 *     cpu_kernel_bench [launches | assembly]     measures launches alone, or prints the kernels' assembly
 *
 * The loops run in one thread, so MAX_NUM_THREADS=1 makes the comparison fair.
 */
#define _POSIX_C_SOURCE 200809L
#include <max/max.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 10000, ROUNDS = 20 };

static const char source[] =
    "extern \"C\" __global__ void nothing() {}\n"
    "extern \"C\" __global__ void saxpy(float a, const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "extern \"C\" __global__ void hypotenuse(const float* x, const float* y, float* out, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = sqrtf(x[i] * x[i] + y[i] * y[i]);\n"
    "}\n"
    "extern \"C\" __global__ void meet(int* out) {\n"
    "  __shared__ int last;\n"
    "  if (threadIdx.x == 0) last = blockIdx.x;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == blockDim.x - 1) out[blockIdx.x] = last;\n"
    "}\n";

static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double smaller(double a, double b) { return a < b ? a : b; }

static MaxDevice* device;
static MaxModule* module;

static MaxKernel* kernel_of(const char* name) {
  MaxKernel* kernel = NULL;
  check(maxModuleGetKernel(module, name, &kernel));
  return kernel;
}

static void bench_empty(void) {
  MaxKernel* kernel = kernel_of("nothing");
  MaxStream* stream = NULL;
  check(maxStreamCreate(device, NULL, &stream));
  const MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  double queued = 1e30, inline_time = 1e30;
  for (int round = 0; round < ROUNDS; ++round) {
    double start = now();
    for (int i = 0; i < LAUNCHES; ++i) check(maxKernelLaunch(kernel, &config, NULL, NULL, 0, stream));
    check(maxStreamSynchronize(stream, 0));
    queued = smaller(queued, (now() - start) / LAUNCHES);
    start = now();
    for (int i = 0; i < LAUNCHES; ++i) check(maxKernelLaunch(kernel, &config, NULL, NULL, 0, NULL));
    inline_time = smaller(inline_time, (now() - start) / LAUNCHES);
  }
  maxStreamRelease(stream);
  printf("empty launch: %.0f ns on a created stream (%d queued), %.0f ns on the default stream\n", queued, LAUNCHES,
         inline_time);
}

__attribute__((noinline)) static void saxpy_loop(float a, const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

__attribute__((noinline)) static void hypotenuse_loop(const float* x, const float* y, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = __builtin_sqrtf(x[i] * x[i] + y[i] * y[i]);
}

static MaxLaunchConfig shape(int32_t n, int32_t block) {
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = (n + block - 1) / block;
  config.block[0] = block;
  return config;
}

static void bench_loops(int32_t n) {
  float *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), *out = malloc((size_t)n * sizeof *out);
  for (int32_t i = 0; i < n; ++i) x[i] = y[i] = out[i] = (float)(i % 100);
  const float a = 0.5f;
  const MaxLaunchConfig config = shape(n, 256);
  MaxKernel *saxpy = kernel_of("saxpy"), *hypotenuse = kernel_of("hypotenuse");
  double times[4] = {1e30, 1e30, 1e30, 1e30};
  for (int round = 0; round < 10 * ROUNDS; ++round) {
    double start = now();
    saxpy_loop(a, x, y, n);
    times[0] = smaller(times[0], now() - start);
    start = now();
    check(maxKernelLaunch(saxpy, &config, (const void*[]){&a, &x, &y, &n}, NULL, 4, NULL));
    times[1] = smaller(times[1], now() - start);
    start = now();
    hypotenuse_loop(x, y, out, n);
    times[2] = smaller(times[2], now() - start);
    start = now();
    check(maxKernelLaunch(hypotenuse, &config, (const void*[]){&x, &y, &out, &n}, NULL, 4, NULL));
    times[3] = smaller(times[3], now() - start);
  }
  printf("%8d elements: saxpy %.2f us, in C %.2f us (%.2f); hypotenuse %.2f us, in C %.2f us (%.2f)\n", n,
         times[1] / 1e3, times[0] / 1e3, times[1] / times[0], times[3] / 1e3, times[2] / 1e3, times[3] / times[2]);
  free(x);
  free(y);
  free(out);
}

static void bench_barrier(void) {
  int32_t out[64];
  int32_t* address = out;
  const MaxLaunchConfig config = shape(64 * 256, 256);
  double best = 1e30;
  for (int round = 0; round < ROUNDS; ++round) {
    const double start = now();
    check(maxKernelLaunch(kernel_of("meet"), &config, (const void*[]){&address}, NULL, 1, NULL));
    best = smaller(best, now() - start);
  }
  printf("barrier: %.0f ns per thread, blocks of 256\n", best / (64 * 256));
}

/* The first compilation of the process finds the code on disk if the program ran before, later ones in memory. */
static double compile(void) {
  const double start = now();
  check(maxModuleCompile(device, source, "bench.cu", NULL, &module));
  return now() - start;
}

static void bench_compile(double first) {
  double again = 1e30;
  for (int round = 0; round < ROUNDS; ++round) {
    maxModuleRelease(module);
    again = smaller(again, compile());
  }
  printf("compile and load: %.3f ms at first, %.3f ms again\n", first * 1e-6, again * 1e-6);
}

int main(int count, char** arguments) {
  check(maxDeviceCreate("cpu", 0, NULL, &device));
  const double first = compile();
  if (count > 1 && strcmp(arguments[1], "assembly") == 0) {
    const void* text = NULL;
    size_t size = 0;
    check(maxModuleGetArtifact(module, MAX_ARTIFACT_KIND_ASSEMBLY, &text, &size));
    fwrite(text, 1, size, stdout);
  } else {
    bench_empty();
    if (count > 1 && strcmp(arguments[1], "launches") == 0) return 0;
    for (int32_t n = 1 << 12; n <= 1 << 22; n *= 32) bench_loops(n);
    bench_barrier();
    bench_compile(first);
  }
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return 0;
}
