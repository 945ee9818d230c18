// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm and max.MatMul: tiles of 64 x 64 results, summed in float32 or wider.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int64_t kTile = 64;
constexpr int32_t kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

constexpr const char* kProduct = R"(
struct Layout {
  long long batch, rows, columns, depth;
  long long aRow, aColumn, bRow, bColumn, cRow, cColumn;
  long long rank, dims[16], aBatch[16], bBatch[16];
  float alpha, beta, activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_matmul(const Layout layout, const Element* a, const Element* b ADDENDS, Element* out) {
  __shared__ Sum left[16][64], right[16][64];
  const long long columnTiles = (layout.columns + 63) / 64, rowTiles = (layout.rows + 63) / 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  for (long long tile = blockIdx.x; tile < layout.batch * rowTiles * columnTiles; tile += gridDim.x) {
    const long long column0 = tile % columnTiles * 64, row0 = tile / columnTiles % rowTiles * 64;
    const long long matrix = tile / columnTiles / rowTiles;
    const Element *from = a, *with = b;
    for (long long d = layout.rank - 1, rest = matrix; d >= 0; rest /= layout.dims[d--]) {
      from += rest % layout.dims[d] * layout.aBatch[d];
      with += rest % layout.dims[d] * layout.bBatch[d];
    }
    Sum sums[4][4] = {};
    for (long long k0 = 0; k0 < layout.depth; k0 += 16) {
      for (int e = threadIdx.x; e < 1024; e += 256) {
        const long long row = row0 + e / 16, k = k0 + e % 16;
        left[e % 16][e / 16] =
            row < layout.rows && k < layout.depth ? (Sum)from[row * layout.aRow + k * layout.aColumn] : (Sum)0;
      }
      for (int e = threadIdx.x; e < 1024; e += 256) {
        const long long k = k0 + e / 64, column = column0 + e % 64;
        right[e / 64][e % 64] =
            k < layout.depth && column < layout.columns ? (Sum)with[k * layout.bRow + column * layout.bColumn] : (Sum)0;
      }
      __syncthreads();
      for (int k = 0; k < 16; ++k)
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j) sums[i][j] += left[k][ty * 4 + i] * right[k][tx + 16 * j];
      __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const long long row = row0 + ty * 4 + i, column = column0 + tx + 16 * j;
        if (row >= layout.rows || column >= layout.columns) continue;
        const long long at = (matrix * layout.rows + row) * layout.columns + column;
        Sum sum = sums[i][j];
        FINISH
        out[at] = (Element)sum;
      }
  }
}
)";

struct ProductLayout {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1;
  int64_t aRow = 0, aColumn = 0, bRow = 0, bColumn = 0, cRow = 0, cColumn = 0;
  int64_t rank = 0, dims[kMaxRank] = {}, aBatch[kMaxRank] = {}, bBatch[kMaxRank] = {};
  float alpha = 1, beta = 1, activationAlpha = 0, activationBeta = 0;
};

std::string sourceFor(const Node& node, const KernelType& type, const std::string& activation) {
  const bool isInteger = std::string_view(type.accumulator) == "long long";
  std::string addends, finish;
  if (!isInteger) finish += "sum *= (Sum)layout.alpha;\n";
  if (node.input(2)) {
    addends += ", const Element* c";
    finish += "sum += (Sum)layout.beta * (Sum)c[row * layout.cRow + column * layout.cColumn];\n";
  }
  if (node.input(3)) {
    addends += ", const Element* residual";
    finish += "sum += (Sum)residual[at];\n";
  }
  if (!isInteger) finish += "sum = activated(sum, layout.activationAlpha, layout.activationBeta);\n";
  std::string text = kProduct;
  text.replace(text.find("ADDENDS"), 7, addends).replace(text.find("FINISH"), 6, finish);
  return concat(kernelFunctions(), activation, "typedef ", type.element, " Element;\ntypedef ", type.accumulator,
                " Sum;\n", text);
}

// A factor as a batch of matrices.
struct Factor {
  int64_t rows, columns, rowStride, columnStride;
  Shape batch, strides;

  Factor(const Shape& shape, bool isTransposed, bool isLeft) {
    Shape full = shape;
    if (full.rank() == 1) full.insert(isLeft ? 0 : 1, 1);
    rows = full[full.rank() - 2];
    columns = rowStride = full.back();
    columnStride = 1;
    if (isTransposed && shape.rank() > 1) {
      std::swap(rows, columns);
      std::swap(rowStride, columnStride);
    }
    const Shape dense = contiguousStrides(full);
    for (int i = 0; i + 2 < full.rank(); ++i) {
      batch.push(full[i]);
      strides.push(full[i] == 1 ? 0 : dense[i]);
    }
  }
  // Along an axis of the whole batch, counted from its end.
  int64_t strideAt(int fromEnd) const { return fromEnd < batch.rank() ? strides[batch.rank() - 1 - fromEnd] : 0; }
  int64_t sizeAt(int fromEnd) const { return fromEnd < batch.rank() ? batch[batch.rank() - 1 - fromEnd] : 1; }
};

class PlacedProduct final : public Placed {
 public:
  explicit PlacedProduct(std::string source) : Placed(std::move(source), "gpu_matmul") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const readers::Product product(request.node.attributes);
    const Factor a(request.inputs[0].shape, product.transposesA, true);
    const Factor b(request.inputs[1].shape, product.transposesB, false);
    ProductLayout layout;
    layout.rows = a.rows;
    layout.columns = b.columns;
    layout.depth = a.columns;
    layout.aRow = a.rowStride;
    layout.aColumn = a.columnStride;
    layout.bRow = b.rowStride;
    layout.bColumn = b.columnStride;
    addBatch(layout, a, b);
    addFinish(layout, request, product);
    auto op = std::make_unique<LaunchOp>(*this);
    op->addFirst(layout);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    op->addOutput(0);
    const int64_t tiles = layout.batch * ((layout.rows + kTile - 1) / kTile) * ((layout.columns + kTile - 1) / kTile);
    op->setGrid(std::min(tiles, kMostBlocks), 1, 1, kThreads);
    return op;
  }

 private:
  static void addBatch(ProductLayout& layout, const Factor& a, const Factor& b) {
    layout.rank = std::max(a.batch.rank(), b.batch.rank());
    for (int64_t d = 0; d < layout.rank; ++d) {
      const int fromEnd = static_cast<int>(layout.rank - 1 - d);
      layout.dims[d] = a.sizeAt(fromEnd) == 1 ? b.sizeAt(fromEnd) : a.sizeAt(fromEnd);
      layout.aBatch[d] = a.strideAt(fromEnd);
      layout.bBatch[d] = b.strideAt(fromEnd);
      layout.batch *= layout.dims[d];
    }
  }

  static void addFinish(ProductLayout& layout, const OpRequest& request, const readers::Product& product) {
    const readers::FusedActivation activation(request.node.attributes);
    layout.alpha = product.alpha;
    layout.activationAlpha = activation.alpha;
    layout.activationBeta = activation.beta;
    if (!request.has(2)) return;
    const Shape& c = request.inputs[2].shape;
    if (request.node.is("Gemm")) layout.beta = product.beta;
    if (c.rank() > 0 && c.back() != 1) layout.cColumn = 1;
    if (c.rank() > 1 && c[c.rank() - 2] != 1) layout.cRow = c.back();
  }
};

Ref<Placed> placeProduct(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const KernelType type = kernelType(dtype);
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  if (!type.element || activation.empty() || (node.is("Gemm") && !isFloat(dtype))) return nullptr;
  return makeRef<PlacedProduct>(sourceFor(node, type, activation));
}

constexpr PlaceRow kRows[] = {
    {"", "MatMul", placeProduct}, {"", "Gemm", placeProduct}, {kMaxDomain, "MatMul", placeProduct}};

}  // namespace

std::span<const PlaceRow> gpuProducts() { return kRows; }

}  // namespace max
