/* SPDX-License-Identifier: Apache-2.0 */
/* max_mma.h multiplies tiles of all types, however they lie in memory. */
#include "kernels.h"

enum { ROWS = 32, RESULTS = ROWS * ROWS, LAYOUTS = 4, MOST_DEPTH = 64, THREADS = 64 };

/* KIND: the type of the elements. */
static const char source[] =
    "#include \"max_mma.h\"\n"
    "#ifndef KIND\n"
    "#define KIND MaxMmaHalf\n"
    "#endif\n"
    "typedef KIND Kind;\n"
    "typedef MaxMma<Kind> Mma;\n"
    "typedef Kind::Element Element;\n"
    "template <bool kLeft, bool kRight>\n"
    "static inline __device__ void multiply(const int* a, const int* b, int* out) {\n"
    "  typedef MaxTile<Element, 32, kLeft> Left;\n"
    "  typedef MaxTile<Element, 32, kRight> Right;\n"
    "  __shared__ uint4 memory[2][128];\n"
    "  const Left left = {memory[0]};\n"
    "  const Right right = {memory[1]};\n"
    "  const int depth = Left::kDepth;\n"
    "  for (int i = threadIdx.x; i < 32 * depth; i += blockDim.x) {\n"
    "    *(Element*)left.at(i / depth, i % depth) = (Element)a[i];\n"
    "    *(Element*)right.at(i / depth, i % depth) = (Element)b[i];\n"
    "  }\n"
    "  __syncthreads();\n"
    "  for (int row = 0; row < 32; row += 16)\n"
    "    for (int column = 0; column < 32; column += 16) {\n"
    "      Kind::Sum sums[256 / MAX_MMA_LANES] = {};\n"
    "      for (int step = 0; step < Mma::steps; ++step) {\n"
    "        Mma::Rows rows;\n"
    "        Mma::Columns columns;\n"
    "        Mma::loadRows(rows, left, row, step);\n"
    "        Mma::loadColumns(columns, right, column, step);\n"
    "        Mma::multiply(sums, rows, columns);\n"
    "      }\n"
    "      for (int i = 0; i < 256 / MAX_MMA_LANES; ++i)\n"
    "        out[(row + Mma::row(i)) * 32 + column + Mma::column(i)] = (int)sums[i];\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void tiles(const int* a, const int* b, int* out) {\n"
    "  multiply<true, true>(a, b, out);\n"
    "  multiply<true, false>(a, b, out + 1024);\n"
    "  multiply<false, true>(a, b, out + 2048);\n"
    "  multiply<false, false>(a, b, out + 3072);\n"
    "}\n";

struct kind {
  const char* name;
  int depth; /* elements in 64 bytes */
};

/* Integers that all types have exactly, and whose products and sums they have. */
static void fill(int32_t* values, int count, uint32_t* random) {
  for (int i = 0; i < count; ++i) {
    *random = *random * 1664525u + 1013904223u;
    values[i] = (int32_t)(*random >> 24) % 17 - 8;
  }
}

static void check_kind(MaxDevice* device, const struct kind* kind) {
  static int32_t a[ROWS * MOST_DEPTH], b[ROWS * MOST_DEPTH], out[LAYOUTS * RESULTS];
  char text[4096];
  uint32_t random = 3;
  const int64_t count = ROWS * kind->depth, results = LAYOUTS * RESULTS;
  fill(a, (int)count, &random);
  fill(b, (int)count, &random);
  snprintf(text, sizeof text, "#define KIND %s\n%s", kind->name, source);
  MaxModule* module = compile(device, text);
  MaxBuffer* buffers[] = {upload(device, MAX_DTYPE_INT32, 1, &count, a), upload(device, MAX_DTYPE_INT32, 1, &count, b),
                          upload(device, MAX_DTYPE_INT32, 1, &results, out)};
  const void* arguments[] = {buffers[0], buffers[1], buffers[2]};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT};
  const MaxLaunchConfig config = shape_of(1, THREADS);
  CHECK(maxKernelLaunch(find(module, "tiles"), &config, arguments, sizes, 3, NULL));
  download(buffers[2], out, sizeof out);
  for (int i = 0; i < LAYOUTS * RESULTS; ++i) {
    const int row = i % RESULTS / ROWS, column = i % ROWS;
    int32_t expected = 0;
    for (int k = 0; k < kind->depth; ++k) expected += a[row * kind->depth + k] * b[column * kind->depth + k];
    if (out[i] != expected)
      fail_msg("%s, layout %d, row %d, column %d: %d, not %d", kind->name, i / RESULTS, row, column, out[i], expected);
  }
  for (int i = 0; i < 3; ++i) maxBufferRelease(buffers[i]);
  maxModuleRelease(module);
}

void test_tiles(void** state) {
  (void)state;
  const struct kind kinds[] = {
      {"MaxMmaHalf", 32},
      {"MaxMmaBfloat", 32},
      {"MaxMmaTf32", 16},
      {"MaxMmaExact", 16},
      {"MaxMmaNarrow", 16},
      {"MaxMmaBytes", 64},
      {"MaxMmaPlain<double, double>", 8},
  };
  MaxDevice* device = open_device();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) check_kind(device, &kinds[i]);
  maxDeviceRelease(device);
}
