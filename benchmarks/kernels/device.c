/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of a device:
 *
 *     device_bench [API] [SIDE]     API is cpu (default), cuda or hip; matrices have SIDE rows (default 256)
 *
 * Copies to and from the device, an addition of vectors and a product of matrices in tiles, timed with events on a
 * stream; the best of some rounds. Before that, the first look for accelerators in this process, which opens drivers.
 */
#define _POSIX_C_SOURCE 200809L
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1 << 22, THREADS = 256, TILE = 16, ROUNDS = 10 };

static const char source[] =
    "extern \"C\" __global__ void add(const float* a, const float* b, float* sum, int count) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < count) sum[i] = a[i] + b[i];\n"
    "}\n"
    "extern \"C\" __global__ void matmul(const float* a, const float* b, float* c, int side) {\n"
    "  __shared__ float aTile[16][16];\n"
    "  __shared__ float bTile[16][16];\n"
    "  const int x = threadIdx.x;\n"
    "  const int y = threadIdx.y;\n"
    "  const int row = blockIdx.y * 16 + y;\n"
    "  const int column = blockIdx.x * 16 + x;\n"
    "  float sum = 0;\n"
    "  for (int start = 0; start < side; start += 16) {\n"
    "    aTile[y][x] = a[row * side + start + x];\n"
    "    bTile[y][x] = b[(start + y) * side + column];\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < 16; ++i) sum += aTile[y][i] * bTile[i][x];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  c[row * side + column] = sum;\n"
    "}\n";

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

typedef struct Bench {
  MaxDevice* device;
  MaxStream* stream;
  MaxKernel* add;
  MaxKernel* matmul;
  MaxBuffer* buffers[3];
  uint64_t address; /* of the first buffer */
  void* host;       /* memory that the device reaches */
  MaxEvent* start;
  MaxEvent* end;
  int32_t side; /* of the matrices, which are the vectors' beginnings */
} Bench;

static void toDevice(const Bench* bench) {
  check(maxMemoryCopy((void*)(uintptr_t)bench->address, bench->host, COUNT * sizeof(float),
                      MAX_COPY_KIND_HOST_TO_DEVICE, bench->stream));
}

static void fromDevice(const Bench* bench) {
  check(maxMemoryCopy(bench->host, (const void*)(uintptr_t)bench->address, COUNT * sizeof(float),
                      MAX_COPY_KIND_DEVICE_TO_HOST, bench->stream));
}

static void launch(const Bench* bench, const MaxKernel* kernel, MaxLaunchConfig config, int32_t count) {
  const size_t buffer = MAX_KERNEL_ARGUMENT_BUFFER;
  const void* arguments[] = {bench->buffers[0], bench->buffers[1], bench->buffers[2], &count};
  const size_t sizes[] = {buffer, buffer, buffer, sizeof count};
  check(maxKernelLaunch(kernel, &config, arguments, sizes, 4, bench->stream));
}

static void addVectors(const Bench* bench) {
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = COUNT / THREADS;
  config.block[0] = THREADS;
  launch(bench, bench->add, config, COUNT);
}

static void multiply(const Bench* bench) {
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = config.grid[1] = bench->side / TILE;
  config.block[0] = config.block[1] = TILE;
  launch(bench, bench->matmul, config, bench->side);
}

/* Seconds of the best round. */
static double best(const Bench* bench, void (*work)(const Bench*)) {
  double least = 1e9;
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    int64_t nanoseconds;
    check(maxStreamRecordEvent(bench->stream, bench->start));
    work(bench);
    check(maxStreamRecordEvent(bench->stream, bench->end));
    check(maxEventSynchronize(bench->end, 0));
    check(maxEventGetElapsedTime(bench->start, bench->end, &nanoseconds));
    if ((double)nanoseconds * 1e-9 < least) least = (double)nanoseconds * 1e-9;
  }
  return least > 0 ? least : 1e-9;
}

static void report(const Bench* bench) {
  const double bytes = COUNT * sizeof(float);
  const double side = bench->side;
  printf("copy to the device      %8.2f GB/s\n", bytes / best(bench, toDevice) * 1e-9);
  printf("copy from the device    %8.2f GB/s\n", bytes / best(bench, fromDevice) * 1e-9);
  printf("vectors added           %8.2f GB/s\n", 3 * bytes / best(bench, addVectors) * 1e-9);
  printf("matrices multiplied     %8.2f GFLOP/s\n", 2 * side * side * side / best(bench, multiply) * 1e-9);
}

static void makeData(Bench* bench) {
  const int64_t count = COUNT;
  const float one = 1;
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  int i;
  for (i = 0; i < 3; ++i) {
    check(maxBufferCreate(bench->device, MAX_DTYPE_FLOAT32, 1, &count, NULL, &bench->buffers[i]));
    check(maxBufferFill(bench->buffers[i], &one, sizeof one, NULL));
  }
  check(maxDeviceSynchronize(bench->device, 0));
  check(maxBufferGetInfo(bench->buffers[0], &info));
  bench->address = info.address;
  check(maxHostAllocate(bench->device, COUNT * sizeof(float), &bench->host));
  memset(bench->host, 0, COUNT * sizeof(float));
}

static void lookForAccelerators(void) {
  struct timespec start, end;
  int32_t count;
  clock_gettime(CLOCK_MONOTONIC, &start);
  check(maxDeviceGetCount("gpu", &count));
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("accelerators, %d found  %8.3f ms\n", (int)count,
         1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec));
}

int main(int argc, char** argv) {
  MaxEventOptions timed = MAX_EVENT_OPTIONS_INIT;
  MaxModule* module;
  Bench bench;
  int i;

  memset(&bench, 0, sizeof bench);
  timed.timing = 1;
  bench.side = argc > 2 ? atoi(argv[2]) : 256;
  if (bench.side < TILE || bench.side > 2048 || bench.side % TILE) {
    fprintf(stderr, "SIDE is a multiple of %d, at most 2048\n", TILE);
    return 1;
  }
  lookForAccelerators();
  check(maxDeviceCreate(argc > 1 ? argv[1] : "cpu", -1, NULL, &bench.device));
  check(maxStreamCreate(bench.device, NULL, &bench.stream));
  check(maxModuleCompile(bench.device, source, "rates.cu", NULL, &module));
  check(maxModuleGetKernel(module, "add", &bench.add));
  check(maxModuleGetKernel(module, "matmul", &bench.matmul));
  check(maxEventCreate(bench.device, &timed, &bench.start));
  check(maxEventCreate(bench.device, &timed, &bench.end));
  makeData(&bench);
  report(&bench);
  check(maxStreamSynchronize(bench.stream, 0));

  check(maxHostFree(bench.device, bench.host));
  for (i = 0; i < 3; ++i) maxBufferRelease(bench.buffers[i]);
  maxEventRelease(bench.start);
  maxEventRelease(bench.end);
  maxModuleRelease(module);
  maxStreamRelease(bench.stream);
  maxDeviceRelease(bench.device);
  return 0;
}
