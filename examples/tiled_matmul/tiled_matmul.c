/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiplies matrices with a kernel that is compiled at run time. Each block of threads makes one tile of the product:
 * it brings tiles of both factors into shared memory, where every element is read TILE times.
 *
 *     example_tiled_matmul [API]     API is cpu (default), cuda, hip or gpu (whichever there is)
 */
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows and columns of a, columns of b; none a multiple of the tile, so that the edges are tried too. */
enum { M = 150, K = 77, N = 130, TILE = 16 };

static const char source[] =
    "extern \"C\" __global__ void matmul(const float* a, const float* b, float* c, int m, int k, int n) {\n"
    "  __shared__ float aTile[TILE][TILE];\n"
    "  __shared__ float bTile[TILE][TILE];\n"
    "  const int x = threadIdx.x;\n"
    "  const int y = threadIdx.y;\n"
    "  const int row = blockIdx.y * TILE + y;\n"
    "  const int column = blockIdx.x * TILE + x;\n"
    "  float sum = 0;\n"
    "  for (int start = 0; start < k; start += TILE) {\n"
    "    aTile[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;\n"
    "    bTile[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < TILE; ++i) sum += aTile[y][i] * bTile[i][x];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  if (row < m && column < n) c[row * n + column] = sum;\n"
    "}\n";

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

/* Small whole numbers, whose products are exact in any order. */
static float element(int row, int column) { return (float)((row * 7 + column * 3) % 11 - 5); }

static MaxBuffer* makeMatrix(MaxDevice* device, int rows, int columns) {
  const int64_t shape[] = {rows, columns};
  MaxBuffer* buffer;
  void* data;
  int i;
  check(maxBufferCreate(device, MAX_DTYPE_FLOAT32, 2, shape, NULL, &buffer));
  check(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_WRITE, &data));
  for (i = 0; i < rows * columns; ++i) ((float*)data)[i] = element(i / columns, i % columns);
  check(maxBufferUnmapFromHost(buffer)); /* to the device */
  return buffer;
}

static MaxModule* compile(const MaxDevice* device) {
  const char* const names[] = {"TILE"};
  const char* const values[] = {"16"};
  MaxModuleOptions options = MAX_MODULE_OPTIONS_INIT;
  MaxModule* module;
  options.defineNames = names;
  options.defineValues = values;
  options.defineCount = 1;
  check(maxModuleCompile(device, source, "matmul.cu", &options, &module));
  return module;
}

static void launch(const MaxKernel* matmul, MaxBuffer* a, MaxBuffer* b, MaxBuffer* c) {
  const int32_t m = M, k = K, n = N;
  const size_t buffer = MAX_KERNEL_ARGUMENT_BUFFER;
  const void* arguments[] = {a, b, c, &m, &k, &n};
  const size_t sizes[] = {buffer, buffer, buffer, sizeof m, sizeof k, sizeof n};
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = (N + TILE - 1) / TILE;
  config.grid[1] = (M + TILE - 1) / TILE;
  config.block[0] = TILE;
  config.block[1] = TILE;
  check(maxKernelLaunch(matmul, &config, arguments, sizes, 6, NULL));
}

static int countErrors(MaxBuffer* product) {
  int row, column, i, errors = 0;
  void* data;
  check(maxBufferMapToHost(product, MAX_HOST_ACCESS_READ, &data)); /* waits for the kernel */
  for (row = 0; row < M; ++row)
    for (column = 0; column < N; ++column) {
      float sum = 0;
      for (i = 0; i < K; ++i) sum += element(row, i) * element(i, column);
      errors += ((const float*)data)[row * N + column] != sum;
    }
  check(maxBufferUnmapFromHost(product));
  return errors;
}

int main(int argc, char** argv) {
  MaxDevice* device;
  MaxModule* module;
  MaxKernel* matmul;
  MaxBuffer *a, *b, *c;
  const char* name;
  int errors;

  check(maxDeviceCreate(argc > 1 ? argv[1] : "cpu", -1, NULL, &device));
  module = compile(device);
  check(maxModuleGetKernel(module, "matmul", &matmul)); /* borrowed from the module */
  a = makeMatrix(device, M, K);
  b = makeMatrix(device, K, N);
  c = makeMatrix(device, M, N);
  launch(matmul, a, b, c);
  errors = countErrors(c);
  check(maxDeviceGetName(device, &name));
  printf("%s: product of %d x %d and %d x %d, %d elements wrong\n", name, M, K, K, N, errors);

  maxBufferRelease(c);
  maxBufferRelease(b);
  maxBufferRelease(a);
  maxModuleRelease(module);
  maxDeviceRelease(device);
  return errors != 0;
}
