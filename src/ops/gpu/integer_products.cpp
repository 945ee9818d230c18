// SPDX-License-Identifier: Apache-2.0
// Products of matrices of 8-bit integers. Sums are exact, and what follows them is rounded as on the CPU.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/error.h"
#include "ops/gpu/byte_source.h"
#include "ops/gpu/product_ops.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// Zero points and scales: one for all, or one for each row or column.
constexpr const char* kMatrix = R"(
struct Layout {
  long long batch, rows, columns, depth, splits, perSplit, bStride;
  long long rank, dims[16], aBatch[16], bBatch[16];
  long long aZeros, bZeros, aScales, bScales;  // how many there are
};

MAX_DEVICE void finish(const Layout& layout, unsigned sum, long long i, long long allRows, long long column INPUTS,
                       Result* y) {
  FINISH
}

template <int kRows, int kColumns, int kThreads, int kTeamRows>
MAX_DEVICE void product(const Layout& layout INPUTS, int* partial, Result* y) {
  const long long rowTiles = (layout.rows + kRows - 1) / kRows, columnTiles = (layout.columns + kColumns - 1) / kColumns;
  const long long tiles = rowTiles * columnTiles, count = layout.batch * layout.rows * layout.columns;
  for (long long number = blockIdx.x; number < layout.batch * layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles % layout.splits, matrix = number / tiles / layout.splits;
    const long long row0 = number % tiles / columnTiles * kRows, column0 = number % columnTiles * kColumns;
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    const A* from = a;
    const B* with = b;
    for (long long d = layout.rank - 1, rest = matrix; d >= 0; rest /= layout.dims[d--]) {
      from += rest % layout.dims[d] * layout.aBatch[d];
      with += rest % layout.dims[d] * layout.bBatch[d];
    }
    ByteSource<A, kRows, kThreads, true> left(from, row0, layout.rows, layout.depth, begin, end);
    ByteSource<B, kColumns, kThreads, B_INNER> right(with, column0, layout.columns, layout.bStride, begin, end);
    multiplyBytes<kRows, kColumns, kThreads, kTeamRows>(
        left, right, end - begin,
        [&](int r) {
          const long long allRows = matrix * layout.rows + row0 + r;
          (void)allRows;
          return row0 + r < layout.rows ? withoutSign<A>(A_ZERO) : 0;
        },
        [&](int c) {
          const long long column = column0 + c;
          return column < layout.columns ? withoutSign<B>(B_ZERO) : 0;
        },
        [&](int r, int c, unsigned sum) {
          const long long row = row0 + r, column = column0 + c, i = (matrix * layout.rows + row) * layout.columns + column;
          if (row >= layout.rows || column >= layout.columns) return;
          if (layout.splits > 1)
            partial[split * count + i] = (int)sum;
          else
            finish(layout, sum, i, matrix * layout.rows + row, column GIVEN, y);
        });
  }
}

#define MAX_PRODUCT(name, kRows, kColumns, kThreads, kTeamRows)                          \
  extern "C" __global__ void __launch_bounds__(kThreads)                                 \
      name(const Layout layout INPUTS, int* partial, Result* y) {                        \
    product<kRows, kColumns, kThreads, kTeamRows>(layout GIVEN, partial, y);             \
  }
MAX_PRODUCT(gpu_integer_matmul, 64, 64, 128, 2)
MAX_PRODUCT(gpu_integer_matmul_large, 128, 128, 256, 2)
MAX_PRODUCT(gpu_integer_matmul_skinny, 16, 128, 128, 1)

extern "C" __global__ void gpu_integer_matmul_sum(const Layout layout, const int* partial INPUTS, Result* y) {
  const long long count = layout.batch * layout.rows * layout.columns, step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += (unsigned)partial[split * count + i];
    finish(layout, sum, i, i / layout.columns, i % layout.columns GIVEN, y);
  }
}
)";

struct MatrixLayout {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1, splits = 1, perSplit = 1, bStride = 0;
  int64_t rank = 0, dims[kMaxRank] = {}, aBatch[kMaxRank] = {}, bBatch[kMaxRank] = {};
  int64_t aZeros = 1, bZeros = 1, aScales = 1, bScales = 1;
};

// Operands, by their numbers in the node; SIZE_MAX = none.
struct MatrixOperands {
  size_t b, aZero, bZero, aScale, bScale;

  static MatrixOperands of(const Node& node) {
    if (node.op() == "QLinearMatMul") return {3, 2, 5, 1, 4};
    return {1, 2, 3, SIZE_MAX, node.domain() == kMaxDomain ? size_t{4} : SIZE_MAX};
  }
};

bool isPlaceable(const Node& node) {
  if (node.op() == "MatMulInteger") return true;
  return node.op() == "QLinearMatMul" && haveTypes(node) && !isFloat(node.input(0)->type.dtype) &&
         !isFloat(node.input(3)->type.dtype) && !isFloat(node.output(0)->type.dtype);
}

// Whether b is stored column by column, for all that read it.
bool isTurned(const Node& node) {
  const Value& b = *node.input(MatrixOperands::of(node).b);
  return b.constant && b.constant->hasContents() && b.constant->shape().rank() == 2 && !b.isOutput() &&
         std::ranges::all_of(b.uses, [&](const Use& use) {
           return isPlaceable(*use.node) && static_cast<size_t>(use.index) == MatrixOperands::of(*use.node).b &&
                  use.node->graph == b.graph;
         });
}

// Bytes of a column that is stored so.
int64_t turnedStride(int64_t depth) { return alignUp<int64_t>(depth, 16); }

class PlacedMatrix final : public Placed {
 public:
  PlacedMatrix(std::string source, size_t b, bool isTurned)
      : Placed(std::move(source), {"gpu_integer_matmul", "gpu_integer_matmul_sum", "gpu_integer_matmul_large",
                                   "gpu_integer_matmul_skinny"}),
        b_(b),
        isTurned_(isTurned) {}

  Ref<Tensor> packed(size_t input, const Tensor& tensor) const override {
    if (input != b_ || !isTurned_) return nullptr;
    const int64_t depth = tensor.shape()[0], columns = tensor.shape()[1], stride = turnedStride(depth);
    Ref<Tensor> turned = Tensor::allocate(tensor.dtype(), {columns, stride});
    auto* to = static_cast<std::byte*>(turned->mutableData());
    std::memset(to, 0, turned->bytes());
    const auto* from = tensor.as<std::byte>();
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n) to[n * stride + k] = from[k * columns + n];
    return turned;
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    using enum ProductPlan::Form;
    const MatrixLayout layout = layoutOf(request);
    const ProductPlan plan(DType::Int8, layout.batch, layout.rows, layout.columns, layout.depth, {Large, Skinny});
    const size_t kernel = plan.form == Large ? 2 : plan.form == Skinny ? 3 : 0;
    return productOps(*this, request, layout, plan, request.outputs[0].shape.count(), {kernel, 1, sizeof(int32_t), 0});
  }

 private:
  MatrixLayout layoutOf(const OpRequest& request) const {
    const MatrixOperands operands = MatrixOperands::of(request.node);
    Shape a = request.inputs[0].shape, b = request.inputs[operands.b].shape;
    if (a.rank() == 1) a.insert(0, 1);
    if (b.rank() == 1) b.insert(1, 1);
    MatrixLayout layout;
    layout.rows = a[a.rank() - 2];
    layout.depth = a.back();
    layout.columns = b.back();
    layout.bStride = isTurned_ ? turnedStride(layout.depth) : layout.columns;
    addBatch(layout, a, b);
    layout.aZeros = countOf(request, operands.aZero);
    layout.bZeros = countOf(request, operands.bZero);
    layout.aScales = countOf(request, operands.aScale);
    layout.bScales = countOf(request, operands.bScale);
    return layout;
  }

  // Matrices that are all multiplied by the same one are one matrix.
  static void addBatch(MatrixLayout& layout, const Shape& a, const Shape& b) {
    const int64_t rank = std::max(a.rank(), b.rank()) - 2;
    const Shape aStrides = contiguousStrides(a), bStrides = contiguousStrides(b);
    int64_t matrices = 1;
    for (int d = 0; d < rank; ++d) {
      const int inA = d - static_cast<int>(rank) + a.rank() - 2, inB = inA - a.rank() + b.rank();
      const int64_t aSize = inA < 0 ? 1 : a[inA], bSize = inB < 0 ? 1 : b[inB];
      layout.dims[d] = aSize == 1 ? bSize : aSize;
      layout.aBatch[d] = aSize == 1 ? 0 : aStrides[inA];
      layout.bBatch[d] = bSize == 1 ? 0 : bStrides[inB];
      layout.batch *= layout.dims[d];
      matrices *= bSize;
    }
    layout.rank = rank;
    if (matrices != 1) return;
    layout.rows *= layout.batch;
    layout.batch = 1;
    layout.rank = 0;
  }

  size_t b_;
  bool isTurned_;
};

Ref<Placed> placeMatrix(const Node& node, std::initializer_list<const char*> names, const std::string& finish) {
  const MatrixOperands operands = MatrixOperands::of(node);
  const auto elementOf = [](const Value* value) { return kernelType(value->type.dtype).element; };
  const bool turned = isTurned(node);
  const std::string types =
      concat("typedef ", elementOf(node.input(0)), " A;\ntypedef ", elementOf(node.input(operands.b)), " B;\ntypedef ",
             elementOf(node.output(0)), " Result;\n#define B_INNER ", turned ? "true" : "false", "\n");
  const std::string text =
      filledIn(kMatrix, {{"INPUTS", parametersOf(node, names)},
                         {"GIVEN", argumentsOf(node, names)},
                         {"A_ZERO", node.input(operands.aZero) ? "MAX_ONE_OF(aZero_, allRows, layout.aZeros)" : "0"},
                         {"B_ZERO", node.input(operands.bZero) ? "MAX_ONE_OF(bZero_, column, layout.bZeros)" : "0"},
                         {"FINISH", finish}});
  return makeRef<PlacedMatrix>(concat(requantizedSource(), byteFunctions(), types, text), operands.b, turned);
}

Ref<Placed> placeMatMulInteger(const Node& node) {
  std::string finish = "y[i] = (int)sum;";
  if (node.domain() == kMaxDomain) {
    finish = "y[i] = __fmul_rn((float)(int)sum, MAX_ONE_OF(factors, column, layout.bScales))";
    finish += node.input(5) ? " + addends[column];" : ";";
  }
  return placeMatrix(node, {"a", "b", "aZero_", "bZero_", "factors", "addends"}, finish);
}

Ref<Placed> placeQLinearMatMul(const Node& node) {
  if (!isPlaceable(node)) return nullptr;
  const int least = isSigned(node.output(0)->type.dtype) ? -128 : 0;
  return placeMatrix(
      node, {"a", "aScale", "aZero_", "b", "bScale", "bZero_", "yScale", "yZero"},
      concat(
          "const float factor = (float)MAX_ONE_OF(aScale, allRows, layout.aScales) * (float)MAX_ONE_OF(bScale, column, "
          "layout.bScales) / (float)yScale[0];\n  const int value = requantized((float)(int)sum, factor) + yZero[0];\n "
          " y[i] = value > ",
          least, " ? value < ", least + 255, " ? value : ", least + 255, " : ", least, ";"));
}

constexpr PlaceRow kRows[] = {{"", "MatMulInteger", placeMatMulInteger},
                              {kMaxDomain, "MatMulInteger", placeMatMulInteger},
                              {"", "QLinearMatMul", placeQLinearMatMul}};

}  // namespace

std::span<const PlaceRow> gpuIntegerProducts() { return kRows; }

}  // namespace max
