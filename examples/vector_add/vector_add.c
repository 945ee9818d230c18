/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds two vectors with a kernel that is compiled at run time:
 *
 *     example_vector_add [API]     API is cpu (default), cuda, hip or gpu (whichever there is)
 */
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000, THREADS = 256 };

static const char source[] =
    "extern \"C\" __global__ void add(const float* a, const float* b, float* sum, int count) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < count) sum[i] = a[i] + b[i];\n"
    "}\n";

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

/* A vector on the device that holds 0, factor, 2 * factor, ... */
static MaxBuffer* makeVector(MaxDevice* device, float factor) {
  const int64_t count = COUNT;
  MaxBuffer* buffer;
  void* data;
  int i;
  check(maxBufferCreate(device, MAX_DTYPE_FLOAT32, 1, &count, NULL, &buffer));
  check(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_WRITE, &data));
  for (i = 0; i < COUNT; ++i) ((float*)data)[i] = factor * (float)i;
  check(maxBufferUnmapFromHost(buffer)); /* to the device */
  return buffer;
}

static void launch(const MaxKernel* add, MaxBuffer* a, MaxBuffer* b, MaxBuffer* sum) {
  const int32_t count = COUNT;
  const void* arguments[] = {a, b, sum, &count};
  const size_t sizes[] = {MAX_KERNEL_ARGUMENT_BUFFER, MAX_KERNEL_ARGUMENT_BUFFER, MAX_KERNEL_ARGUMENT_BUFFER,
                          sizeof count};
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = (COUNT + THREADS - 1) / THREADS;
  config.block[0] = THREADS;
  check(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL));
}

static int countErrors(MaxBuffer* sum) {
  int i, errors = 0;
  void* data;
  check(maxBufferMapToHost(sum, MAX_HOST_ACCESS_READ, &data)); /* waits for the kernel */
  for (i = 0; i < COUNT; ++i) errors += ((const float*)data)[i] != 3.0f * (float)i;
  check(maxBufferUnmapFromHost(sum));
  return errors;
}

int main(int argc, char** argv) {
  MaxDevice* device;
  MaxModule* module;
  MaxKernel* add;
  MaxBuffer *a, *b, *sum;
  const char* name;
  int errors;

  check(maxDeviceCreate(argc > 1 ? argv[1] : "cpu", -1, NULL, &device));
  check(maxModuleCompile(device, source, "add.cu", NULL, &module));
  check(maxModuleGetKernel(module, "add", &add)); /* borrowed from the module */
  a = makeVector(device, 1);
  b = makeVector(device, 2);
  sum = makeVector(device, 0);
  launch(add, a, b, sum);
  errors = countErrors(sum);
  check(maxDeviceGetName(device, &name));
  printf("%s: %d sums, %d wrong\n", name, COUNT, errors);

  maxBufferRelease(sum);
  maxBufferRelease(b);
  maxBufferRelease(a);
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return errors != 0;
}
