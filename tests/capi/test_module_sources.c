/* SPDX-License-Identifier: Apache-2.0 */
/* Sources as they are written for CUDA, on the CPU: what they call things, how they declare them, what they rely on. */
#include "check.h"

static const char patterns[] =
    /* The number of threads that are there, and a variable that only one of them sets. */
    "__device__ int next(int* counter) {\n"
    "  unsigned active = __activemask(), lane = threadIdx.x % 32, rank = __popc(active & ((1u << lane) - 1));\n"
    "  int first;\n"
    "  if (rank == 0) first = atomicAdd(counter, __popc(active));\n"
    "  return __shfl_sync(active, first, __ffs(active) - 1) + rank;\n"
    "}\n"
    "extern \"C\" __global__ void filter(const int* in, int* out, int* count, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i >= n) return;\n"
    "  if (in[i] % 3 == 1) out[next(count)] = in[i];\n"
    "  else if (in[i] < 0) out[next(count)] = 1000;\n"
    "}\n"
    "extern \"C\" __global__ void converged(int* out) {\n"
    "  int sum = threadIdx.x;\n"
    "  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(__activemask(), sum, o);\n"
    "  if (threadIdx.x == 32) out[0] = sum;\n"
    "  if (threadIdx.x % 4 == 1) { int all = __popc(__ballot(1)); if (threadIdx.x == 33) out[1] = all; }\n"
    "  __syncthreads();\n"
    "  int same = __popc(__match_any_sync(~0u, threadIdx.x / 5)), most = __reduce_max_sync(~0u, (int)threadIdx.x), "
    "all;\n"
    "  __match_all_sync(~0u, threadIdx.x / 32, &all);\n"
    "  if (threadIdx.x == 34) { out[2] = same; out[3] = most; out[4] = all; }\n"
    "}\n"
    /* Arithmetic that is meant to overflow. */
    "extern \"C\" __global__ void hash(unsigned* out, unsigned seed) {\n"
    "  auto h = threadIdx.x * 1664525u + 1013904223u;\n"
    "  h ^= h >> 16; h *= 0x85ebca6bu; h %= 100000u; h = h / 3;\n"
    "  out[4 * threadIdx.x] = h;\n"
    "  out[4 * threadIdx.x + 1] = blockDim.x * 73856093 ^ threadIdx.x * 19349663;\n"
    "  out[4 * threadIdx.x + 2] = (threadIdx.x * 1103515245 + 12345) % 1000;\n"
    "  out[4 * threadIdx.x + 3] = (seed + threadIdx.x) / 7;\n"
    "}\n"
    /* Shared memory in all orders of words. */
    "extern __shared__ __align__(16) unsigned char pool[];\n"
    "extern __shared__ __align__(16) unsigned char pool[];\n"
    "template <class T, int n> struct Array { T values[n]; };\n"
    "extern \"C\" __global__ void shared(int* out) {\n"
    "  extern __align__(8) __shared__ char raw[];\n"
    "  extern volatile __shared__ int words[];\n"
    "  __shared__ alignas(128) int far[32];\n"
    "  volatile __shared__ int flag;\n"
    "  __shared__ Array<int, 4> four, more[2];\n"
    "  words[threadIdx.x] = threadIdx.x; far[threadIdx.x] = 1; four.values[threadIdx.x % 4] = 2;\n"
    "  more[1].values[threadIdx.x % 4] = 3; if (threadIdx.x == 0) flag = 4;\n"
    "  __syncthreads();\n"
    "  out[threadIdx.x] = ((int*)raw)[31 - threadIdx.x] + far[0] + four.values[1] + more[1].values[1] + flag +\n"
    "                     (pool == (unsigned char*)raw) + ((size_t)far % 128 ? 1000 : 0);\n"
    "}\n"
    /* Kernels that share a name, and instances where their arguments are known. */
    "__global__ void named(int* out) { out[0] = 1; }\n"
    "__global__ void named(float* out) { out[0] = 2; }\n"
    "template <class T> inline __global__ void size(T* out) { out[0] = sizeof(T); }\n"
    "template __global__ void size(double*);\n"
    "namespace n {\n"
    "struct S { int v[5]; };\n"
    "template <class T> __global__ void sized(T* of, int* out) { *out = sizeof(T); }\n"
    "template __global__ void sized<S>(S*, int*);\n"
    "}\n";

/* Names that C libraries take, as variables, functions and types; types that C libraries define otherwise. */
static const char names[] =
    "#include \"my types.h\"\n"
    "typedef unsigned long long ulong;\n"
    "__device__ int index(int a, int b) { return a * 10 + b; }\n"
    "__device__ int div(int a, int b) { return a / b; }\n"
    "__device__ float rand() { return 4.f; }\n"
    "__constant__ float gamma = 2.f;\n"
    "__device__ int time = 3, remove = 1;\n"
    "enum Status { read, write, open, close };\n"
    "struct half { float x; };\n"
    "template <class U> __device__ void swap(U& a, U& b) { U c = a; a = b; b = c; }\n"
    "extern \"C\" __global__ void k(T* out) {\n"
    "  int a = 1, b = 2, y0 = 3, j1 = 4; swap(a, b); half h = {5}; uint64_t big = 1ull << 40;\n"
    "  out[0] = index(a, b) + div(7, 2) + rand() + gamma + time + remove + close + y0 + j1 + h.x + (big >> 40);\n"
    "  out[1] = value + sum(N, begin) + sizeof(sqrt(2.0f)) + abs(-2.5f) + pow(2.0f, 3.0f) + min(1, 2u) + llabs(-3);\n"
    "  char* place = (char*)malloc(8); new (place) int(7); out[2] = *(int*)place; free(place);\n"
    "}";

static MaxDevice* device;
static MaxModule* module;

static int compile(void** state) {
  (void)state;
  device = open_cpu();
  CHECK(maxModuleCompile(device, patterns, "patterns.cu", NULL, &module));
  return 0;
}

static int release(void** state) {
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return check_no_leaks(state);
}

static void launch(const MaxModule* of, const char* name, int32_t grid, int32_t block, int32_t count,
                   const void* const* arguments) {
  MaxKernel* kernel = NULL;
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = grid;
  config.block[0] = block;
  config.sharedByteCount = 128;
  CHECK(maxModuleGetKernel(of, name, &kernel));
  CHECK(maxKernelLaunch(kernel, &config, arguments, NULL, count, NULL));
}

static void test_active_threads(void** state) {
  (void)state;
  enum { SIZE = 300 };
  int32_t in[SIZE], got[SIZE] = {0}, found = 0, sum = 0, expected_count = 0, expected_sum = 0;
  for (int32_t i = 0; i < SIZE; ++i) in[i] = i % 7 == 0 ? -i - 1 : i;
  for (int32_t i = 0; i < SIZE; ++i) {
    if (in[i] % 3 != 1 && in[i] >= 0) continue;
    ++expected_count;
    expected_sum += in[i] % 3 == 1 ? in[i] : 1000;
  }
  const int32_t *from = in, n = SIZE;
  int32_t *to = got, *count = &found;
  launch(module, "filter", 3, 128, 4, (const void*[]){&from, &to, &count, &n});
  assert_int_equal(found, expected_count);
  for (int32_t i = 0; i < found; ++i) sum += got[i];
  assert_int_equal(sum, expected_sum);
  int32_t out[5] = {0};
  int32_t* address = out;
  launch(module, "converged", 1, 64, 1, (const void*[]){&address});
  assert_memory_equal(out, ((const int32_t[]){32 * 95 / 2, 8, 3, 63, 1}), sizeof out);
}

static void test_overflow(void** state) {
  (void)state;
  uint32_t out[4 * 256];
  uint32_t* address = out;
  const uint32_t seed = 0xffffff80u;
  launch(module, "hash", 1, 256, 2, (const void*[]){&address, &seed});
  for (uint32_t t = 0; t < 256; ++t) {
    uint32_t h = t * 1664525u + 1013904223u;
    h = (h ^ h >> 16) * 0x85ebca6bu % 100000u / 3;
    assert_int_equal(out[4 * t], h);
    assert_int_equal(out[4 * t + 1], (256u * 73856093u) ^ (t * 19349663u));
    assert_int_equal(out[4 * t + 2], (t * 1103515245u + 12345u) % 1000);
    assert_int_equal(out[4 * t + 3], (seed + t) / 7);
  }
}

static void test_shared_memory(void** state) {
  (void)state;
  int32_t out[32];
  int32_t* address = out;
  launch(module, "shared", 2, 32, 1, (const void*[]){&address});
  for (int32_t t = 0; t < 32; ++t) assert_int_equal(out[t], 31 - t + 1 + 2 + 3 + 4 + 1);
}

static void test_kernels_of_one_name(void** state) {
  (void)state;
  int32_t whole = 0;
  float real = 0;
  double wide = 0;
  int32_t* wholes = &whole;
  float* reals = &real;
  double* wides = &wide;
  launch(module, "_Z5namedPi", 1, 1, 1, (const void*[]){&wholes});
  launch(module, "_Z5namedPf", 1, 1, 1, (const void*[]){&reals});
  assert_true(whole == 1 && real == 2);
  launch(module, "_Z4sizeIdEvPT_", 1, 1, 1, (const void*[]){&wides});
  launch(module, "_ZN1n5sizedINS_1SEEEvPT_Pi", 1, 1, 2, (const void*[]){&wholes, &wholes});
  assert_true(wide == 8 && whole == 20);
}

/* With a mark of UTF-8 and a Windows editor's ends of lines. */
static void test_names(void** state) {
  (void)state;
  static char text[sizeof names * 2] = "\xef\xbb\xbf";
  char* end = text + 3;
  for (const char* c = names; *c; ++c) {
    if (*c == '\n') *end++ = '\r';
    *end++ = *c;
  }
  const char* const macros[] = {"T", "value", "N", "begin", "thread", "index_sequence"};
  const char* const values[] = {"float", "3", "4", "5", NULL, "9"};
  const char* const flags[] = {"-Dsum(a, b)=((a) + (b))", "-D", "kernel", "-Ukernel", "-std=c++20"};
  const char* const headers[] = {"my types.h"};
  const char* const header_texts[] = {"typedef unsigned long long uint64_t;\ntypedef long long int64_t;\n"};
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.defineNames = macros;
  options.defineValues = values;
  options.defineCount = 6;
  options.flags = flags;
  options.flagCount = 5;
  options.headerNames = headers;
  options.headerTexts = header_texts;
  options.headerCount = 1;
  MaxModule* mine = NULL;
  CHECK(maxModuleCompile(device, text, "names.cu", &options, &mine));
  float out[3];
  float* address = out;
  launch(mine, "k", 1, 1, 1, (const void*[]){&address});
  assert_memory_equal(
      out, ((const float[]){21 + 3 + 4 + 2 + 3 + 1 + 3 + 3 + 4 + 5 + 1, 3 + 9 + 4 + 2.5f + 8 + 1 + 3, 7}), sizeof out);
  maxModuleRelease(mine);
}

static void expect_error(const char* text, const char* message) {
  const char* const headers[] = {"mine.h"};
  const char* const header_texts[] = {"\n__device__ int f() { return nowhere; }\n"};
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.headerNames = headers;
  options.headerTexts = header_texts;
  options.headerCount = 1;
  MaxModule* none = NULL;
  CHECK_FAILS(maxModuleCompile(device, text, "e.cu", &options, &none), MAX_STATUS_INVALID_ARGUMENT, message);
  assert_null(none);
}

/* The first line tells where the first error is, in the words of the source. */
static void test_places_of_errors(void** state) {
  (void)state;
  expect_error("__global__ void k(int* o) {\n extern\n __shared__\n int s[];\n o[0] = nowhere;\n}\n", "e.cu:5:");
  expect_error("__global__ void k(int* o) {\n __shared__ int\n s[4]; o[0] = nowhere;\n}\n", "e.cu:3:");
  expect_error("#define M(x) (x)\n__global__ void k(int* o) {\n o[0] = M(1\n +\n 2);\n o[1] = nowhere;\n}\n",
               "e.cu:6:");
  expect_error("#include \"mine.h\"\n", "not compile: mine.h:2:");
  expect_error("__global__ void k(int* o) {\n o[0] = 1;\n", "e.cu:2:");
  expect_error("struct S { int a; }", "e.cu:1:");
  expect_error("\n__global__ void k(int& o) { o = 1; }\n", "must not have parameters that are references");
  expect_error("\n__global__ void k(int* o) {\n __shared__ int s[20000]; o[0] = s[o[0]];\n}\n", "e.cu:3:");
}

/* A failed assertion in a header also reports its location as the source names it. */
static void test_assertions_of_headers(void** state) {
  (void)state;
  const char* const headers[] = {"mine.h"};
  const char* const header_texts[] = {"\n__device__ void check(int x) { assert(x < 3); }\n"};
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.headerNames = headers;
  options.headerTexts = header_texts;
  options.headerCount = 1;
  MaxModule* checking = NULL;
  MaxKernel* kernel = NULL;
  CHECK(maxModuleCompile(device, "#include \"mine.h\"\nextern \"C\" __global__ void k() { check(threadIdx.x); }\n",
                         "a.cu", &options, &checking));
  CHECK(maxModuleGetKernel(checking, "k", &kernel));
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.block[0] = 8;
  CHECK_FAILS(maxKernelLaunch(kernel, &config, NULL, NULL, 0, NULL), MAX_STATUS_FAILED_PRECONDITION,
              "Thread 3 of block (0, 0, 0) of kernel 'k' stopped at mine.h:2: x < 3");
  maxModuleRelease(checking);
}

/* What the library adds to a source is none of its warnings. */
static void test_warnings(void** state) {
  (void)state;
  static const char text[] =
      "#include <math.h>\n#include <cuda_fp16.h>\n"
      "extern \"C\" __global__ void k(float* out, const float* x, unsigned n) {\n"
      "  extern __shared__ float dynamic[];\n"
      "  __shared__ float last[32];\n"
      "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  dynamic[threadIdx.x] = last[threadIdx.x % 32] = x[i];\n"
      "  __syncthreads();\n"
      "  assert(i < 1000u);\n"
      "  out[i] = __shfl_sync(~0u, dynamic[0], 0) + sqrtf(last[0]) + __half2float(__float2half(INFINITY));\n"
      "}\n";
  const char* const flags[] = {"-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"};
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  options.flags = flags;
  options.flagCount = COUNT_OF(flags);
  MaxModule* strict = NULL;
  CHECK(maxModuleCompile(device, text, "strict.cu", &options, &strict));
  maxModuleRelease(strict);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_active_threads),
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_shared_memory),
      cmocka_unit_test(test_kernels_of_one_name),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_places_of_errors),
      cmocka_unit_test(test_assertions_of_headers),
      cmocka_unit_test(test_warnings),
  };
  return RUN_GROUP(tests, compile, release);
}
