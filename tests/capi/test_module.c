/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <signal.h>

#include "kernel_fixture.h"

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
  maxKernelRetain(NULL);
  maxKernelRelease(NULL);
  maxModuleRetain(NULL);
  maxModuleRelease(NULL);
  MaxKernel* missing = kernel;
  CHECK_FAILS(maxModuleGetKernel(module, "missing", &missing), MAX_STATUS_NOT_FOUND,
              "Module test.cu has no kernel 'missing'");
  assert_null(missing);
  CHECK_FAILS(maxModuleGetKernel(module, "sacle", &missing), MAX_STATUS_NOT_FOUND, "did you mean 'scale'?");
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
  CHECK_FAILS(maxModuleLoadFromMemory(NULL, "x", 1, &module), MAX_STATUS_INVALID_ARGUMENT, ""); /* the host */
  CHECK_FAILS(maxModuleCompile(shared.device, "", NULL, NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outModule");
  CHECK_FAILS(maxModuleCompile(shared.device,
                               "extern \"C\" __global__ void deep(float* x) {\n  float all[1 << 20];\n"
                               "  for (int i = 0; i < 1 << 20; ++i) all[i] = x[i];\n"
                               "  for (int i = 0; i < 1 << 20; ++i) x[i] = all[(int)x[i] & 1023];\n}\n",
                               "deep.cu", NULL, &module),
              MAX_STATUS_INVALID_ARGUMENT, "frame");
}

/* A reference to a kernel is one to its module. */
static void test_kernels_hold_their_module(void** state) {
  (void)state;
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  CHECK(
      maxModuleCompile(shared.device, "extern \"C\" __global__ void put(int* out) { *out = 4; }", NULL, NULL, &module));
  CHECK(maxModuleGetKernel(module, "put", &kernel));
  maxKernelRetain(kernel);
  maxModuleRelease(module);
  int32_t value = 0;
  int32_t* address = &value;
  const MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  CHECK(maxKernelLaunch(kernel, &config, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(value, 4);
  maxKernelRelease(kernel);
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
  CHECK(maxModuleLoadFromMemory(shared.device, code, size, &loaded));
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
  CHECK_FAILS(maxModuleLoadFromMemory(shared.device, "PTX", 3, &loaded), MAX_STATUS_INVALID_ARGUMENT, "3 bytes");
  CHECK_FAILS(maxModuleLoadFromMemory(shared.device, "\177ELF and so on", 14, &loaded), MAX_STATUS_INVALID_ARGUMENT,
              "truncated");
  for (size_t cut = 4; cut < size; cut += size / 97)
    CHECK_FAILS(maxModuleLoadFromMemory(shared.device, code, cut, &loaded), MAX_STATUS_INVALID_ARGUMENT, "truncated");
  unsigned char* changed = malloc(size);
  assert_non_null(changed);
  memcpy(changed, code, size);
  changed[18] ^= 1; /* another machine's */
  CHECK_FAILS(maxModuleLoadFromMemory(shared.device, changed, size, &loaded), MAX_STATUS_INVALID_ARGUMENT,
              "cannot be loaded");
  free(changed);
  CHECK_FAILS(maxModuleLoadFromMemory(shared.device, NULL, 0, &loaded), MAX_STATUS_INVALID_ARGUMENT, "data");
}

static int descriptor_count(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  assert_non_null(folder);
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

/* Many modules of the same code, some alive at the same time: each has its own variables and no file descriptor. */
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
    CHECK(maxModuleLoadFromMemory(shared.device, code, size, module));
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

int main(void) {
  const struct CMUnitTest tests[] = {
      SHARED_TEST(test_constants_and_structures),
      SHARED_TEST(test_kernels_are_parts_of_their_module),
      SHARED_TEST(test_kernels_hold_their_module),
      SHARED_TEST(test_errors_of_the_source),
      SHARED_TEST(test_children_that_nobody_waits_for),
      SHARED_TEST(test_options),
      SHARED_TEST(test_bad_options),
      SHARED_TEST(test_artifacts_and_loading),
      SHARED_TEST(test_many_modules),
  };
  return RUN_GROUP(tests, compile_shared, release_shared);
}
