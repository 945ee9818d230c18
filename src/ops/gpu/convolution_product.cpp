// SPDX-License-Identifier: Apache-2.0
// The rows of the left matrix are the windows of pixels, which are read where they lie; those of the right one are the
// filters, which are stored tap by tap for this.
#include "ops/gpu/convolution_product.h"

#include <algorithm>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/pixel_source.h"
#include "ops/gpu/product_ops.h"
#include "ops/gpu/product_source.h"

namespace max {

namespace {

constexpr const char* kConvolution = R"(
template <int kRows, int kThreads>
struct PixelSource : Pixels<Element, kRows, kThreads, Stored> {
  typedef Pixels<Element, kRows, kThreads, Stored> Base;
  typedef MaxTile<Stored, kRows, true> Tile;
  static const bool kConverts = sizeof(Element) != sizeof(Stored), kFills = CHANNELS_UNIT % Tile::kPiece == 0;
  static const bool kKeeps = kConverts || !kFills;
  using Base::aligned;
  using Base::kEach;
  using Base::left;
  Element kept[kEach][Tile::kPiece];  // as MatrixSource keeps them

  inline __device__ PixelSource(const Layout& shape, const Element* x, long long first, long long begin, long long past)
      : Base(shape, x, first, begin, past) {
    if (kKeeps) fetch();
  }
  inline __device__ void fetch() {
    if (kFills) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const Element* from = this->at(i);
        takeWhole(kept[i], from, from && left > 0, aligned);
      }
      this->next();
      return;
    }
#pragma unroll
    for (int e = 0; e < Tile::kPiece; ++e) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const Element* from = this->at(i);
        kept[i][e] = from && left > e ? *from : Element(0.0f);
      }
      this->advance(1);
    }
    left -= Tile::kDepth;
    this->advance(Tile::kDepth - Tile::kPiece);
  }
  inline __device__ void load(const Tile& tile) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      void* const to = tile.at((threadIdx.x + i * kThreads) / 4, threadIdx.x % 4 * Tile::kPiece);
      if (kKeeps) {
        putPiece(to, kept[i]);
      } else {
        const Element* from = left > 0 ? this->at(i) : nullptr;
        copyPiece((uint4*)to, from ? from : this->base, from ? Tile::kPiece : 0, aligned);
      }
    }
    if (kKeeps)
      fetch();
    else
      this->next();
  }
};

// `i`: of the result.
MAX_DEVICE Element finish(const Layout& layout, Sum sum, long long i, long long filter ADDENDS) {
  FINISH
  return (Element)(activated(sum, layout.activationAlpha, layout.activationBeta) LAST);
}

template <int kRows, int kColumns, int kThreads, int kTeamRows>
MAX_DEVICE void convolve(const Layout& layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  typedef PixelSource<kRows, kThreads> Left;
  const int columnTiles = (int)(layout.filters + kColumns - 1) / kColumns;
  const int tiles = (int)(layout.pixels + kRows - 1) / kRows * columnTiles;
  for (long long number = blockIdx.x; number < layout.groups * layout.splits * tiles; number += gridDim.x) {
    const int column0 = (int)(number % columnTiles) * kColumns, row0 = (int)(number % tiles) / columnTiles * kRows;
    const int split = (int)(number / tiles % layout.splits), group = (int)(number / tiles / layout.splits);
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    Left left(layout, x + group * layout.channels, row0, begin, end);
    MatrixSource<Element, kColumns, kThreads, true, Stored> right(w + group * layout.filters * layout.wRow, column0,
                                                                  layout.filters, layout.wRow, begin, end);
    const long long steps = (end - begin + Left::Tile::kDepth - 1) / Left::Tile::kDepth;
    const long long all = layout.filters * layout.groups;
    multiplyTile<kRows, kColumns, kThreads, kTeamRows, 4>(left, right, steps, [&](int i, int j, const Sum (&sums)[4]) {
      const int pixel = row0 + i, count = (int)layout.filters - column0 - j;
      const long long filter = group * layout.filters + column0 + j, at = pixel * all + filter;
      const bool aligned = layout.filters % 4 == 0;
      if (pixel >= layout.pixels || count <= 0) return;
      if (layout.splits > 1) {
        storePiece(partial + split * layout.pixels * all + at, sums, count, aligned);
        return;
      }
      Element results[4] = {};
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (e < count) results[e] = finish(layout, sums[e], at + e, filter + e GIVEN);
      storePiece(y + at, results, count, aligned && (size_t)y % 16 == 0);
    });
  }
}

#define MAX_CONVOLUTION(name, kRows, kColumns, kThreads, kTeamRows, kBlocks)                                                    \
  extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)                                                    \
      name(const Layout layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {              \
    convolve<kRows, kColumns, kThreads, kTeamRows>(layout, x, w GIVEN, partial, y);                                             \
  }
MAX_CONVOLUTION(gpu_conv_product, 64, 64, 128, 2, 1)
MAX_CONVOLUTION(gpu_conv_product_large, 128, 128, 256, 2, MAX_LARGE_BLOCKS)
MAX_CONVOLUTION(gpu_conv_product_tall, 128, 64, 128, 2, 1)

// Adds the parts of sums.
extern "C" __global__ void gpu_conv_product_sum(const Layout layout, const Sum* partial ADDENDS, Element* y) {
  const long long filters = layout.filters * layout.groups, count = layout.pixels * filters;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    Sum sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += partial[split * count + i];
    y[i] = finish(layout, sum, i, i % filters GIVEN);
  }
}
)";

std::string sourceFor(const Node& node, const std::string& activation) {
  const Addends addends(node, 2, 3);
  const int64_t channels = node.input(1)->constant->shape()[1];
  std::string text = kConvolution;
  replaceAll(text, " ADDENDS", addends.parameters);
  replaceAll(text, " GIVEN", addends.given);
  replaceAll(text, "FINISH", addends.before);
  replaceAll(text, "LAST", addends.after);
  // As many channels lie together at a multiple of as many elements.
  const int64_t unit = std::min<int64_t>(channels & -channels, 16);
  return concat(kernelFunctions(), activation, productFunctions(node.input(0)->type.dtype), "#define CHANNELS_UNIT ",
                unit, "\nstruct Layout {", pixelFields(), "};\n", pixelFunctions(), text);
}

class PlacedConvolutionProduct final : public Placed {
 public:
  PlacedConvolutionProduct(std::string source, DType dtype)
      : Placed(std::move(source),
               {"gpu_conv_product", "gpu_conv_product_sum", "gpu_conv_product_large", "gpu_conv_product_tall"}),
        dtype_(dtype) {}

  Ref<Tensor> packed(size_t input, const Tensor& weights) const override {
    return input == 1 ? packedFilters(weights) : nullptr;
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const ConvolutionLayout layout = convolutionLayout(request, request.inputs[1].shape, dtype_);
    const ProductPlan plan(dtype_, layout.groups, layout.pixels, layout.filters, layout.depth,
                           {ProductPlan::Form::Large, ProductPlan::Form::Tall});
    const size_t kernel = plan.form == ProductPlan::Form::Large ? 2 : plan.form == ProductPlan::Form::Tall ? 3 : 0;
    return productOps(*this, request, layout, plan, layout.pixels * layout.filters * layout.groups,
                      {kernel, 1, sizeof(float)});
  }

 private:
  DType dtype_;
};

// Whether its tiles are filled, mostly, and its activation is known.
bool isProduct(const Node& node) {
  return node.isOwn("Conv") && hasTensorForms(node.input(0)->type.dtype) && fillsTiles(node, 1) &&
         !activationSource(readers::FusedActivation(node.attributes)).empty();
}

// Whether all that read the weights are such products, for which alone they are stored.
bool ownsWeights(const Value& weights) {
  return !weights.isOutput() && std::all_of(weights.uses.begin(), weights.uses.end(), [&](const Use& use) {
    return use.index == 1 && use.node->graph == weights.graph && isProduct(*use.node);
  });
}

}  // namespace

Ref<Placed> placeConvolutionProduct(const Node& node) {
  if (!isProduct(node) || !ownsWeights(*node.input(1))) return nullptr;
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  return makeRef<PlacedConvolutionProduct>(sourceFor(node, activation), node.input(0)->type.dtype);
}

}  // namespace max
