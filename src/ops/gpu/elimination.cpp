// SPDX-License-Identifier: Apache-2.0
// Det and max.Inverse: Gaussian elimination in float64 with the largest element of each column as the pivot, a block
// for each matrix.
#include <algorithm>

#include "base/error.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// The matrix, and beside it what becomes its inverse, are n rows of `width` numbers.
constexpr const char* kEliminate = R"(
static inline __device__ long long pivotOf(const double* matrix, long long n, long long width, long long column) {
  long long pivot = column;
  for (long long row = column + 1; row < n; ++row)
    if (fabs(matrix[row * width + column]) > fabs(matrix[pivot * width + column])) pivot = row;
  return pivot;
}
static inline __device__ void swapRows(double* matrix, long long width, long long a, long long b) {
  for (long long i = threadIdx.x; i < width; i += 128) {
    const double kept = matrix[a * width + i];
    matrix[a * width + i] = matrix[b * width + i];
    matrix[b * width + i] = kept;
  }
}

extern "C" __global__ void gpu_eliminate(const Element* in, Element* out, double* scratch, long long matrices, long long n) {
  const long long width = INVERTS ? 2 * n : n;
  double* matrix = scratch + blockIdx.x * n * width;
  EACH_ROW(number, matrices) {
    __syncthreads();
    for (long long i = threadIdx.x; i < n * width; i += 128) {
      const long long row = i / width, column = i % width;
      matrix[i] = column < n ? (double)in[(number * n + row) * n + column] : column - n == row ? 1 : 0;
    }
    double determinant = 1;
    for (long long column = 0; column < n; ++column) {
      __syncthreads();
      const long long pivot = pivotOf(matrix, n, width, column);
      __syncthreads();
      if (pivot != column) swapRows(matrix, width, pivot, column);
      __syncthreads();
      const double value = matrix[column * width + column];
      determinant *= pivot != column ? -value : value;
      if (!INVERTS && value == 0) break;
      __syncthreads();
      if (INVERTS) {
        for (long long i = threadIdx.x; i < width; i += 128) matrix[column * width + i] *= 1 / value;
        __syncthreads();
      }
      for (long long row = (INVERTS ? 0 : column + 1) + threadIdx.x; row < n; row += 128) {
        const double own = matrix[row * width + column], factor = INVERTS ? own : own / value;
        if (row == column || own == 0) continue;
        for (long long i = column; i < width; ++i) matrix[row * width + i] -= factor * matrix[column * width + i];
      }
    }
    __syncthreads();
    if (INVERTS)
      for (long long i = threadIdx.x; i < n * n; i += 128)
        out[number * n * n + i] = (Element)matrix[i / n * width + n + i % n];
    else if (threadIdx.x == 0)
      out[number] = (Element)determinant;
  }
}
)";

constexpr int64_t kMostBlocks = 1024;  // each with a matrix of its own

bool inverts(const Node& node) { return node.op() == "Inverse"; }

std::unique_ptr<OpKernel> createElimination(const Placed& placed, const OpRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const int64_t n = shape.back(), matrices = shape.product(0, shape.rank() - 2);
  const int64_t blocks = std::min(matrices, kMostBlocks), numbers = n * (inverts(request.node) ? 2 * n : n);
  auto op = launchOf(placed, request, matrices, n);
  op->useScratch(static_cast<size_t>(blocks * numbers) * sizeof(double));
  op->setGrid(blocks, 1, 1, kRowThreads);
  return op;
}

Ref<Placed> placeElimination(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  return placedAs(typesSource(dtype) + filledIn(kEliminate, {{"INVERTS", inverts(node) ? "true" : "false"}}),
                  {"gpu_eliminate"}, createElimination);
}

constexpr PlaceRow kRows[] = {{"", "Det", placeElimination}, {kMaxDomain, "Inverse", placeElimination}};

}  // namespace

std::span<const PlaceRow> gpuElimination() { return kRows; }

}  // namespace max
