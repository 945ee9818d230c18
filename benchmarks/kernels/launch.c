/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch with 8 arguments costs on its way into the stream:
 *
 *     launch_bench [API]     API is cpu (default), cuda or hip
 *
 * For cuda and hip the driver's own launch is measured beside it. MAX_CUDA_LIBRARY and MAX_HIP_LIBRARY choose the
 * driver; with a fake one of tests/fake and FAKE_GPU_EMPTY_LAUNCH=1 a launch does nothing, and the rest is ours.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 500, ROUNDS = 200, ARGUMENTS = 8 };

static const char source[] =
    "extern \"C\" __global__ void eight(float* a, float* b, float* c, float* d, int e, int f, float g, double h) {}\n";

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

static void checkDriver(int error, const char* function) {
  if (error == 0) return;
  fprintf(stderr, "%s: error %d\n", function, error);
  exit(1);
}

typedef int (*LaunchFunction)(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                              unsigned blockY, unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments,
                              void** extra);

/* Names of a driver's functions. */
typedef struct Api {
  const char* name;
  const char* variable;
  const char* library;
  const char* loadData;
  const char* getFunction;
  const char* launch;
  MaxArtifactKind code;
} Api;

static const Api apis[] = {
    {"cuda", "MAX_CUDA_LIBRARY", "libcuda.so.1", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
     MAX_ARTIFACT_KIND_CUBIN},
    {"hip", "MAX_HIP_LIBRARY", "libamdhip64.so", "hipModuleLoadData", "hipModuleGetFunction", "hipModuleLaunchKernel",
     MAX_ARTIFACT_KIND_CODE_OBJECT},
};

typedef struct Bench {
  MaxKernel* kernel;
  MaxStream* stream;
  MaxBuffer* buffer;
  void* native; /* stream of the driver */
  void* function;
  LaunchFunction launch;
} Bench;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void launchOurs(const Bench* bench) {
  const int32_t e = 1, f = 2;
  const float g = 3;
  const double h = 4;
  const size_t buffer = MAX_KERNEL_ARGUMENT_BUFFER;
  const void* arguments[ARGUMENTS] = {bench->buffer, bench->buffer, bench->buffer, bench->buffer, &e, &f, &g, &h};
  const size_t sizes[ARGUMENTS] = {buffer, buffer, buffer, buffer, sizeof e, sizeof f, sizeof g, sizeof h};
  const MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  int i;
  for (i = 0; i < LAUNCHES; ++i)
    check(maxKernelLaunch(bench->kernel, &config, arguments, sizes, ARGUMENTS, bench->stream));
}

static void launchDriver(const Bench* bench) {
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  int32_t e = 1, f = 2;
  float g = 3;
  double h = 4;
  void* arguments[ARGUMENTS] = {&info.address, &info.address, &info.address, &info.address, &e, &f, &g, &h};
  int i;
  check(maxBufferGetInfo(bench->buffer, &info));
  for (i = 0; i < LAUNCHES; ++i)
    checkDriver(bench->launch(bench->function, 1, 1, 1, 1, 1, 1, 0, bench->native, arguments, NULL), "launch");
}

/* Nanoseconds of one launch, in the best round; the waiting between rounds is not counted. */
static double best(const Bench* bench, void (*launches)(const Bench*)) {
  double least = 1e9;
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    const double start = seconds();
    double each;
    launches(bench);
    each = (seconds() - start) / LAUNCHES;
    check(maxStreamSynchronize(bench->stream, 0));
    if (each < least) least = each;
  }
  return least * 1e9;
}

/* C has no cast for it. */
static void find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "the driver has no %s\n", name);
    exit(1);
  }
  memcpy(function, &symbol, sizeof symbol);
}

/* The thread needs its own context for the driver's functions; HIP has one from the start. */
static void makeCurrent(void* library) {
  int (*retain)(void** context, int device);
  int (*setCurrent)(void* context);
  void* context;
  find(library, "cuDevicePrimaryCtxRetain", &retain);
  find(library, "cuCtxSetCurrent", &setCurrent);
  checkDriver(retain(&context, 0), "cuDevicePrimaryCtxRetain");
  checkDriver(setCurrent(context), "cuCtxSetCurrent");
}

static void openDriver(const Api* api, const MaxModule* module, Bench* bench) {
  const char* path = getenv(api->variable);
  void* library = dlopen(path ? path : api->library, RTLD_NOW);
  int (*loadData)(void** out, const void* image);
  int (*getFunction)(void** out, void* from, const char* name);
  const void* code;
  size_t size;
  void* loaded;
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  find(library, api->loadData, &loadData);
  find(library, api->getFunction, &getFunction);
  find(library, api->launch, &bench->launch);
  if (strcmp(api->name, "cuda") == 0) makeCurrent(library);
  check(maxModuleGetArtifact(module, api->code, &code, &size));
  checkDriver(loadData(&loaded, code), api->loadData);
  checkDriver(getFunction(&bench->function, loaded, "eight"), api->getFunction);
  check(maxStreamGetNative(bench->stream, &bench->native));
}

static void compareWithDriver(const Api* api, const MaxModule* module, Bench* bench) {
  const double apart = best(bench, launchOurs); /* the thread has no context */
  double ours, driver;
  openDriver(api, module, bench);
  driver = best(bench, launchDriver);
  ours = best(bench, launchOurs);
  printf("ns per launch with %d arguments:\n", ARGUMENTS);
  printf("  driver alone                     %8.1f\n", driver);
  printf("  through the library              %8.1f   %.1f more, %.2f times\n", ours, ours - driver, ours / driver);
  printf("  the same, thread without context %8.1f   %.1f more\n", apart, apart - driver);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "cpu";
  const int64_t count = 16;
  MaxDevice* device;
  MaxModule* module;
  Bench bench = {NULL, NULL, NULL, NULL, NULL, NULL};
  size_t i;

  check(maxDeviceCreate(name, -1, NULL, &device));
  check(maxModuleCompile(device, source, "eight.cu", NULL, &module));
  check(maxModuleGetKernel(module, "eight", &bench.kernel));
  check(maxStreamCreate(device, NULL, &bench.stream));
  check(maxBufferCreate(device, MAX_DTYPE_FLOAT32, 1, &count, NULL, &bench.buffer));
  for (i = 0; i < sizeof apis / sizeof apis[0]; ++i)
    if (strcmp(name, apis[i].name) == 0) compareWithDriver(&apis[i], module, &bench);
  if (!bench.launch) printf("ns per launch with %d arguments: %.1f\n", ARGUMENTS, best(&bench, launchOurs));
  maxBufferRelease(bench.buffer);
  maxStreamRelease(bench.stream);
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return 0;
}
