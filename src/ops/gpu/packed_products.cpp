// SPDX-License-Identifier: Apache-2.0
// max.MatMulNBits: weights of 2, 4 or 8 bits, in blocks along the depth that share a scale and a zero point. Products
// of a few rows read the weights once for them; those of more rows unpack them into tiles.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/product_ops.h"
#include "ops/gpu/product_source.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int64_t kFewRows = 4;

constexpr const char* kNBits = R"(
struct Layout {
  long long batch, rows, columns, depth, splits, perSplit, block, blocks, zeroBits;
};
MAX_DEVICE Sum zeroOf(const Layout& layout, long long column, long long at ZEROS) { return (Sum)(ZERO); }

// A block of threads for a column and a few rows, so that each weight is unpacked once for them.
extern "C" __global__ void gpu_matmul_nbits_few(const Layout layout, const Element* a, const unsigned char* weights,
                                                const Element* scales ZEROS, Element* y) {
  __shared__ Sum shared[128];
  const long long tiles = (layout.rows + 3) / 4, blockBytes = layout.block * BITS / 8;
  for (long long task = blockIdx.x; task < layout.columns * tiles; task += gridDim.x) {
    const long long column = task / tiles, row = task % tiles * 4;
    Sum sums[4] = {0, 0, 0, 0};
    for (long long k = threadIdx.x; k < layout.depth; k += 128) {
      const long long at = column * layout.blocks + k / layout.block, within = k % layout.block;
      const int code = weights[at * blockBytes + within * BITS / 8] >> (within * BITS % 8) & ((1 << BITS) - 1);
      const Sum weight = ((Sum)code - zeroOf(layout, column, at GIVEN)) * (Sum)scales[at];
      for (int i = 0; i < 4; ++i)
        if (row + i < layout.rows) sums[i] += (Sum)a[(row + i) * layout.depth + k] * weight;
    }
    for (int i = 0; i < 4; ++i) {
      const Sum sum = joined<Total>(sums[i], shared);
      if (threadIdx.x == 0 && row + i < layout.rows) y[(row + i) * layout.columns + column] = (Element)sum;
    }
  }
}

// Columns of weights as a factor.
template <int kRows, int kThreads>
struct WeightSource {
  typedef MaxTile<Element, kRows, true> Tile;
  static const int kBytes = Tile::kPiece * BITS / 8;  // of a piece, which is within a block
  const Layout& layout;
  const unsigned char* weights;
  const Element* scales;
  ZERO_MEMBER
  long long first, k, end;

  inline __device__ void load(const Tile& tile) {
    for (int piece = threadIdx.x; piece < Tile::kPieces; piece += kThreads) {
      const int row = piece / 4, depth = piece % 4 * Tile::kPiece;
      const long long column = first + row, at = k + depth;
      Element elements[Tile::kPiece];
      if (column < layout.columns && at < end) {
        const long long block = column * layout.blocks + at / layout.block;
        unsigned long long codes = 0;
        memcpy(&codes, weights + (block * layout.block + at % layout.block) * BITS / 8, kBytes);
        const Sum scale = (Sum)scales[block], zero = zeroOf(layout, column, block GIVEN);
#pragma unroll
        for (int e = 0; e < Tile::kPiece; ++e) {
          const int code = (int)(codes >> e * BITS) & ((1 << BITS) - 1);
          elements[e] = Element(at + e < end ? ((Sum)code - zero) * scale : (Sum)0);
        }
      } else {
#pragma unroll
        for (int e = 0; e < Tile::kPiece; ++e) elements[e] = Element(0.0f);
      }
      memcpy(tile.at(row, depth), elements, 16);
    }
    k += Tile::kDepth;
  }
};

template <int kRows, int kColumns, int kThreads, int kTeamRows>
MAX_DEVICE void product(const Layout& layout, const Element* a, const unsigned char* weights, const Element* scales ZEROS,
                        Sum* partial, Element* y) {
  typedef MatrixSource<Element, kRows, kThreads, true> Left;
  const long long rowTiles = (layout.rows + kRows - 1) / kRows, columnTiles = (layout.columns + kColumns - 1) / kColumns;
  const long long tiles = rowTiles * columnTiles;
  for (long long number = blockIdx.x; number < layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles, row0 = number % rowTiles * kRows, column0 = number % tiles / rowTiles * kColumns;
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    Left left(a, row0, layout.rows, layout.depth, begin, end);
    WeightSource<kColumns, kThreads> right = {layout, weights, scales ZERO_VALUE, column0, begin, end};
    multiplyTile<kRows, kColumns, kThreads, kTeamRows, 4>(
        left, right, (end - begin + Left::Tile::kDepth - 1) / Left::Tile::kDepth, [&](int i, int j, const Sum (&sums)[4]) {
          const long long row = row0 + i, column = column0 + j, at = row * layout.columns + column;
          const long long count = layout.columns - column;
          const bool aligned = layout.columns % 4 == 0;
          if (row >= layout.rows || count <= 0) return;
          if (layout.splits > 1) {
            storePiece(partial + split * layout.rows * layout.columns + at, sums, count, aligned);
            return;
          }
          Element results[4] = {};
          #pragma unroll
          for (int e = 0; e < 4; ++e) results[e] = (Element)sums[e];
          storePiece(y + at, results, count, aligned);
        });
  }
}

#define MAX_PRODUCT(name, kRows, kColumns, kThreads, kTeamRows)                                                     \
  extern "C" __global__ void __launch_bounds__(kThreads)                                                            \
      name(const Layout layout, const Element* a, const unsigned char* weights, const Element* scales ZEROS,        \
           Sum* partial, Element* y) {                                                                              \
    product<kRows, kColumns, kThreads, kTeamRows>(layout, a, weights, scales GIVEN, partial, y);                    \
  }
MAX_PRODUCT(gpu_matmul_nbits, 64, 64, 128, 2)
MAX_PRODUCT(gpu_matmul_nbits_large, 128, 128, 256, 2)
MAX_PRODUCT(gpu_matmul_nbits_skinny, 16, 128, 128, 1)

// Adds the parts of sums.
extern "C" __global__ void gpu_matmul_nbits_sum(const Layout layout, const Sum* partial, Element* y) {
  const long long count = layout.rows * layout.columns, step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    Sum sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += partial[split * count + i];
    y[i] = (Element)sum;
  }
}
)";

struct NBitsLayout {
  int64_t batch, rows, columns, depth, splits, perSplit, block, blocks, zeroBits;
};

class PlacedNBits final : public Placed {
 public:
  PlacedNBits(std::string source, DType dtype)
      : Placed(std::move(source), {"gpu_matmul_nbits", "gpu_matmul_nbits_sum", "gpu_matmul_nbits_large",
                                   "gpu_matmul_nbits_skinny", "gpu_matmul_nbits_few"}),
        dtype_(dtype) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    using enum ProductPlan::Form;
    const readers::PackedProduct product(request.node.attributes);
    const int64_t rows = request.inputs[0].shape.count() / product.depth;
    const NBitsLayout layout{1,
                             rows,
                             product.columns,
                             product.depth,
                             1,
                             product.depth,
                             product.block,
                             product.blocks(),
                             (product.blocks() * product.bits + 7) / 8 * 8};
    if (rows <= kFewRows) return createFew(request, layout);
    const ProductPlan plan(dtype_, 1, rows, product.columns, product.depth, {Large, Skinny});
    const size_t kernel = plan.form == Large ? 2 : plan.form == Skinny ? 3 : 0;
    return productOps(*this, request, layout, plan, rows * product.columns,
                      {kernel, 1, sizeof(float), request.inputs.size()});
  }

 private:
  std::unique_ptr<OpKernel> createFew(const OpRequest& request, const NBitsLayout& layout) const {
    auto op = std::make_unique<LaunchOp>(*this, 4);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    op->addOutput(0);
    op->addFirst(layout);
    op->coverRows(layout.columns * ((layout.rows + 3) / 4));
    return op;
  }

  DType dtype_;
};

Ref<Placed> placeNBits(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const readers::PackedProduct product(node.attributes);
  const Value* zeros = node.input(3);
  const bool isPacked = zeros && zeros->type.dtype == DType::UInt8;
  const std::string type = isPacked ? "const unsigned char*" : "const Element*";
  const std::string bits = "(column * layout.zeroBits + (at - column * layout.blocks) * BITS)";
  const std::string zero = !zeros     ? std::to_string(1 << (product.bits - 1))
                           : isPacked ? concat("zeros[", bits, " / 8] >> (", bits, " % 8) & ((1 << BITS) - 1)")
                                      : "zeros[at]";
  std::string text = kNBits;
  replaceAll(text, "ZERO_MEMBER", zeros ? type + " zeros;" : "");
  replaceAll(text, " ZERO_VALUE", zeros ? ", zeros" : "");
  replaceAll(text, " ZEROS", zeros ? concat(", ", type, " zeros") : "");
  replaceAll(text, " GIVEN", zeros ? ", zeros" : "");
  replaceAll(text, "ZERO", zero);
  return makeRef<PlacedNBits>(concat(productFunctions(dtype), rowSource(), "#define BITS ", product.bits, "\n", text),
                              dtype);
}

constexpr PlaceRow kRows[] = {{kMaxDomain, "MatMulNBits", placeNBits}};

}  // namespace

std::span<const PlaceRow> gpuPackedProducts() { return kRows; }

}  // namespace max
