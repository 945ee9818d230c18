/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels may use on the CPU, one kernel per group of functions. Each writes what it finds into an array. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <unistd.h>

#include "check.h"

static const char source[] =
    "#include <cuda_bf16.h>\n"
    "extern __shared__ int outside[];\n"
    "__device__ __noinline__ int twice(int x) { return 2 * x; }\n"
    "template <class T> __device__ T three(T x) { return 3 * x; }\n"
    "template <class T> __global__ void templated(T* out) { out[threadIdx.x] = three<T>(threadIdx.x); }\n"
    "template __global__ void templated<int>(int*);\n"
    "extern \"C\" __global__ void atomics(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {\n"
    "  atomicAdd(i, 1); atomicSub(i + 1, 2); atomicMax(i + 2, (int)(blockIdx.x * blockDim.x + threadIdx.x));\n"
    "  atomicMin(i + 3, -(int)threadIdx.x); atomicOr(i + 4, 1 << threadIdx.x % 8); atomicAnd(i + 5, ~(1 << threadIdx.x "
    "% 8));\n"
    "  atomicXor(i + 6, 1); if (threadIdx.x == 0) atomicExch(i + 7, 5);\n"
    "  if (atomicCAS(i + 8, 0, 1 + threadIdx.x) == 0) atomicAdd(i + 9, 1);\n"
    "  atomicInc(u, 6); atomicDec(u + 1, 9); atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(l, 1ull << 33);\n"
    "}\n"
    "extern \"C\" __global__ void votes(int* out) {\n"
    "  int t = threadIdx.x;\n"
    "  out[0] = __syncthreads_count(t % 3 == 0); out[1] = __syncthreads_and(t < 39); out[2] = __syncthreads_or(t == "
    "39);\n"
    "  unsigned b = __ballot_sync(__activemask(), t % 2); int any = __any_sync(~0u, t == 35), all = __all_sync(~0u, t "
    ">= 32);\n"
    "  if (t == 0) { out[3] = b; out[4] = any; out[5] = all; }\n"
    "  if (t == 39) { out[6] = b; out[7] = any; out[8] = all; }\n"
    "}\n"
    "extern \"C\" __global__ void shuffles(int* out) {\n"
    "  int t = threadIdx.x;\n"
    "  out[t] = __shfl_sync(~0u, t, 3, 8); out[32 + t] = __shfl_up_sync(~0u, t, 2); out[64 + t] = "
    "__shfl_down_sync(~0u, t, 2, 16);\n"
    "  out[96 + t] = __shfl_xor(t, 5);\n"
    "  double d = __shfl_sync(~0u, t + 0.5, 31); out[128 + t] = (int)(2 * d);\n"
    "  if (t < 16) out[160 + t] = __shfl_xor_sync(0xffffu, t, 1); else out[160 + t] = __shfl_xor_sync(0xffff0000u, t, "
    "2);\n"
    "}\n"
    "extern \"C\" __global__ void tile(int* out) {\n"
    "  __shared__ int square[8][9];\n"
    "  for (int round = 0; round < 3; ++round) {\n"
    "    square[threadIdx.y][threadIdx.x] = threadIdx.y * 8 + threadIdx.x + round;\n"
    "    outside[threadIdx.y * 8 + threadIdx.x] = round;\n"
    "    __syncthreads();\n"
    "    out[threadIdx.y * 8 + threadIdx.x] = square[threadIdx.x][threadIdx.y] + outside[63 - threadIdx.x];\n"
    "    __syncthreads();\n"
    "  }\n"
    "}\n"
    "extern \"C\" __global__ void early(int* out, int n) {\n"
    "  if ((int)threadIdx.x >= n) return;\n"
    "  __shared__ int sum; if (threadIdx.x == 0) sum = 0;\n"
    "  __syncthreads(); atomicAdd(&sum, twice(threadIdx.x)); __syncthreads();\n"
    "  out[blockIdx.x * n + threadIdx.x] = sum;\n"
    "}\n"
    "#define KERNEL extern \"C\" __global__ void\n"
    "KERNEL alone(int* out) { __syncthreads(); out[blockIdx.x] = blockIdx.x + 1; }\n"
    "extern \"C\" __global__ void bits(int* out) {\n"
    "  out[0] = __popc(0xf0f0u); out[1] = __clz(1); out[2] = __ffs(8); out[3] = __brev(1u) == 0x80000000u;\n"
    "  out[4] = __float_as_int(1.0f); out[5] = __float2int_rn(2.5f); out[6] = __float2int_rz(-3.7f); out[7] = "
    "__float2int_rz(1e20f);\n"
    "  out[8] = __umulhi(0x80000000u, 6u); out[9] = __byte_perm(0x33221100u, 0x77665544u, 0x7410u);\n"
    "  out[10] = min(3, 4) + max(5u, 6u) + (int)min(1.5f, 2.5f); out[11] = warpSize;\n"
    "  out[12] = __popcll(~0ull); out[13] = __clzll(1); out[14] = (int)(threadIdx.x - 1) + (threadIdx.x - 1 > 5u);\n"
    "  float4 v = make_float4(1, 2, 3, 4); out[15] = (int)(v.x + v.w) + sizeof(v) + alignof(float4);\n"
    "}\n"
    "extern \"C\" __global__ void real(float* out) {\n"
    "  out[0] = rsqrtf(4.0f); out[1] = __expf(1.0f); out[2] = fmaxf(1.0f, 2.0f); out[3] = __saturatef(3.0f);\n"
    "  out[4] = __fdividef(1.0f, 4.0f); out[5] = fmaf(2.0f, 3.0f, 4.0f); out[6] = normcdff(0.0f); out[7] = "
    "erff(0.5f);\n"
    "  float s, c; __sincosf(1.0f, &s, &c); out[8] = s; out[9] = c;\n"
    "  __nv_bfloat16 b = __float2bfloat16(1.0f + 1.0f / 256); out[10] = __bfloat162float(b); out[11] = __ldg(out + "
    "2);\n"
    "}\n"
    "extern \"C\" __global__ void say(int x) { if (threadIdx.x == 1) printf(\"thread %u says %d\\n\", threadIdx.x, x); "
    "}\n"
    "__device__ int classify(unsigned t) { switch (t) { case 0: return 10; case 1: return 20; default: return 30; } }\n"
    "extern \"C\" __global__ void loose(int* out, int n) {\n"
    "  auto first = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  for (int i = first; i < n; i += blockDim.x * gridDim.x) out[i] = threadIdx.x ? (int)blockDim.x : -1;\n"
    "  for (auto i = first; i < 4; i++) out[n + 4 + first] += i;\n"
    "  uint3 t = threadIdx; dim3 b = blockDim; const unsigned last = blockDim.x - 1;\n"
    "  if (first == 0) {\n"
    "    switch (threadIdx.x) { case 0: out[n] = classify(threadIdx.x); break; default: out[n] = 0; }\n"
    "    out[n + 1] = min(blockDim.x, n) + max(1, threadIdx.x) + t.x + b.y + last;\n"
    "    out[n + 2] = (threadIdx.x - 1 < n) + 2 * (-threadIdx.x - 1 > 5u) + (~threadIdx.x >> 30 << 4);\n"
    "    out[n + 3] = (int)(0.5f * blockDim.x) + (size_t)gridDim.x * blockDim.x % 7;\n"
    "  }\n"
    "}\n"
    "namespace limits { constexpr int N = 96; extern \"C\" __global__ __launch_bounds__(N, 1) void bounded() {} }\n"
    "extern \"C\" __global__ void big(int* out) {\n"
    "  int own[64]; for (int i = 0; i < 64; ++i) own[i] = threadIdx.x + i;\n"
    "  __syncthreads(); int sum = 0; for (int i = 0; i < 64; ++i) sum += own[i]; out[threadIdx.x] = sum;\n"
    "}\n";

static MaxDevice* device;
static MaxModule* module;

static int compile(void** state) {
  (void)state;
  device = open_cpu();
  CHECK(maxModuleCompile(device, source, "dialect.cu", NULL, &module));
  return 0;
}

static int release(void** state) {
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return check_no_leaks(state);
}

static void launch(const char* name, int32_t grid, int32_t width, int32_t height, int32_t count,
                   const void* const* arguments) {
  MaxKernel* kernel = NULL;
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = grid;
  config.block[0] = width;
  config.block[1] = height;
  config.sharedByteCount = 64 * sizeof(int32_t);
  CHECK(maxModuleGetKernel(module, name, &kernel));
  CHECK(maxKernelLaunch(kernel, &config, arguments, NULL, count, NULL));
}

static void test_atomics(void** state) {
  (void)state;
  int32_t i[10] = {0, 0, 0, 0, 0, 255, 0, 0, 0, 0};
  uint32_t u[2] = {0, 0};
  float f = 0;
  double d = 0;
  unsigned long long l = 0;
  int32_t* pi = i;
  uint32_t* pu = u;
  float* pf = &f;
  double* pd = &d;
  unsigned long long* pl = &l;
  launch("atomics", 100, 40, 1, 5, (const void*[]){&pi, &pu, &pf, &pd, &pl});
  const int32_t expected[] = {4000, -8000, 3999, -39, 255, 0, 0, 5};
  for (int k = 0; k < 8; ++k) assert_int_equal(i[k], expected[k]);
  assert_in_range(i[8], 1, 40);
  assert_int_equal(i[9], 1);
  assert_int_equal(u[0], 4000 % 7);
  assert_int_equal(u[1], 0);
  assert_true(f == 2000.0f && d == 1000.0 && l == 4000ull << 33);
}

static void test_votes(void** state) {
  (void)state;
  int32_t out[9];
  int32_t* address = out;
  launch("votes", 1, 40, 1, 1, (const void*[]){&address});
  const int32_t expected[] = {14, 0, 1, (int32_t)0xaaaaaaaau, 0, 0, 0xaa, 1, 1};
  for (int k = 0; k < 9; ++k) assert_int_equal(out[k], expected[k]);
}

static void test_shuffles(void** state) {
  (void)state;
  int32_t out[192];
  int32_t* address = out;
  launch("shuffles", 1, 32, 1, 1, (const void*[]){&address});
  for (int t = 0; t < 32; ++t) {
    assert_int_equal(out[t], t / 8 * 8 + 3);
    assert_int_equal(out[32 + t], t < 2 ? t : t - 2);
    assert_int_equal(out[64 + t], t % 16 < 14 ? t + 2 : t);
    assert_int_equal(out[96 + t], t ^ 5);
    assert_int_equal(out[128 + t], 63);
    assert_int_equal(out[160 + t], t < 16 ? t ^ 1 : t ^ 2);
  }
}

static void test_tiles(void** state) {
  (void)state;
  int32_t out[64];
  int32_t* address = out;
  launch("tile", 1, 8, 8, 1, (const void*[]){&address});
  for (int k = 0; k < 64; ++k) assert_int_equal(out[k], k % 8 * 8 + k / 8 + 4);
}

static void test_threads_that_end_early(void** state) {
  (void)state;
  int32_t out[300];
  int32_t* address = out;
  const int32_t n = 100;
  launch("early", 3, 256, 1, 2, (const void*[]){&address, &n});
  for (int k = 0; k < 300; ++k) assert_int_equal(out[k], 9900);
  launch("alone", 300, 1, 1, 1, (const void*[]){&address});
  for (int k = 0; k < 300; ++k) assert_int_equal(out[k], k + 1);
}

static void test_templates(void** state) {
  (void)state;
  int32_t out[4];
  int32_t* address = out;
  launch("_Z9templatedIiEvPT_", 1, 4, 1, 1, (const void*[]){&address});
  for (int k = 0; k < 4; ++k) assert_int_equal(out[k], 3 * k);
}

static void test_bounds_of_a_namespace(void** state) {
  (void)state;
  MaxKernel* kernel = NULL;
  int64_t threads = 0;
  CHECK(maxModuleGetKernel(module, "bounded", &kernel));
  CHECK(maxKernelGetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &threads));
  assert_int_equal(threads, 96);
}

/* Numbers of threads and blocks behave as what they are said to be: unsigned. */
static void test_numbers_of_threads(void** state) {
  (void)state;
  int32_t out[28] = {0};
  int32_t* address = out;
  const int32_t n = 20;
  launch("loose", 2, 4, 1, 2, (const void*[]){&address, &n});
  for (int k = 0; k < n; ++k) assert_int_equal(out[k], k % 4 ? 4 : -1);
  const int32_t expected[] = {10, 4 + 1 + 0 + 1 + 3, 0 + 2 + (3 << 4), 2 + 8 % 7, 6, 6, 5, 3};
  for (int k = 0; k < 8; ++k) assert_int_equal(out[n + k], expected[k]);
}

static void test_bits(void** state) {
  (void)state;
  int32_t out[16];
  int32_t* address = out;
  launch("bits", 1, 1, 1, 1, (const void*[]){&address});
  const int32_t expected[] = {8, 31, 4, 1, 0x3f800000, 2, -3, INT32_MAX, 3, 0x77441100, 10, 32, 64, 63, 0, 37};
  for (int k = 0; k < 16; ++k) assert_int_equal(out[k], expected[k]);
}

static void test_real_numbers(void** state) {
  (void)state;
  float out[12];
  float* address = out;
  launch("real", 1, 1, 1, 1, (const void*[]){&address});
  const float expected[] = {0.5f, expf(1.0f), 2.0f,       1.0f,       0.25f, 10.0f,
                            0.5f, erff(0.5f), sinf(1.0f), cosf(1.0f), 1.0f,  2.0f};
  for (int k = 0; k < 12; ++k) assert_true(fabsf(out[k] - expected[k]) < 1e-6f);
}

/* Printed by the C library, so whatever the program has made of its standard output. */
static void test_printf(void** state) {
  (void)state;
  char text[64] = "";
  FILE* file = tmpfile();
  assert_non_null(file);
  fflush(stdout);
  const int before = dup(1);
  assert_int_equal(dup2(fileno(file), 1), 1);
  const int32_t x = 42;
  launch("say", 1, 2, 1, 1, (const void*[]){&x});
  fflush(stdout);
  assert_int_equal(dup2(before, 1), 1);
  close(before);
  rewind(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_string_equal(text, "thread 1 says 42\n");
}

/* As many stacks as a block may have threads. The thread sanitizer takes most of a megabyte for each. */
static void test_largest_block(void** state) {
  (void)state;
#if defined(__SANITIZE_THREAD__)
  enum { THREADS = 64 };
#else
  enum { THREADS = 1024 };
#endif
  int32_t out[THREADS];
  int32_t* address = out;
  launch("big", 2, THREADS, 1, 1, (const void*[]){&address});
  for (int k = 0; k < THREADS; ++k) assert_int_equal(out[k], 64 * k + 2016);
}

static int has_avx2(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return 0;
#endif
}

/* The loop over threads becomes vector code, whatever type the index has; Clang's does not where stores are
   conditional. */
static void test_loops_are_vectorised(void** state) {
  (void)state;
  const char* const text =
      "extern \"C\" __global__ void add(const float* a, const float* b, float* c, INDEX n) {\n"
      "  INDEX i = WIDE(blockIdx.x) * blockDim.x + threadIdx.x;\n"
      "  if (i < n) c[i] = a[i] + b[i];\n"
      "}\n";
  const char* const names[] = {"INDEX", "WIDE"};
  const char* const types[][2] = {{"int", ""}, {"unsigned", ""}, {"size_t", ""}, {"size_t", "(size_t)"}};
  for (int i = 0; i < 4 && has_avx2(); ++i) {
    const char* const values[] = {types[i][0], types[i][1]};
    MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
    options.defineNames = names;
    options.defineValues = values;
    options.defineCount = 2;
    MaxModule* adding = NULL;
    const void* assembly = NULL;
    size_t size = 0;
    CHECK(maxModuleCompile(device, text, "add.cu", &options, &adding));
    if (maxModuleGetArtifact(adding, MAX_ARTIFACT_KIND_LLVM_IR, &assembly, &size) != MAX_STATUS_OK) {
      CHECK(maxModuleGetArtifact(adding, MAX_ARTIFACT_KIND_ASSEMBLY, &assembly, &size));
      assert_non_null(strstr(assembly, "vaddps"));
    }
    maxModuleRelease(adding);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_atomics),
      cmocka_unit_test(test_votes),
      cmocka_unit_test(test_shuffles),
      cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_templates),
      cmocka_unit_test(test_bounds_of_a_namespace),
      cmocka_unit_test(test_threads_that_end_early),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_numbers_of_threads),
      cmocka_unit_test(test_real_numbers),
      cmocka_unit_test(test_printf),
      cmocka_unit_test(test_largest_block),
      cmocka_unit_test(test_loops_are_vectorised),
  };
  return RUN_GROUP(tests, compile, release);
}
