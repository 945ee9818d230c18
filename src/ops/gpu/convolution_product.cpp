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
struct PixelSource : Pixels<Element, kRows, kThreads> {
  typedef Pixels<Element, kRows, kThreads> Base;
  typedef MaxTile<Element, kRows, true> Tile;
  using Base::aligned;
  using Base::base;
  using Base::channel;
  using Base::end;
  using Base::k;
  using Base::layout;
  using Base::tap;

  inline __device__ PixelSource(const Layout& shape, const Element* x, long long first, long long begin, long long past)
      : Base(shape, x, first, begin, past) {}
  inline __device__ void load(const Tile& tile) {
#pragma unroll
    for (int i = 0; i < Base::kEach; ++i) {
      const int piece = threadIdx.x + i * kThreads;
      uint4* const to = (uint4*)tile.at(piece / 4, piece % 4 * Tile::kPiece);
      if (aligned) {
        const Element* from = k < end ? this->at(i, tap) : nullptr;
        maxCopyAsync(to, from ? from + channel : base, from ? 16 : 0);
        continue;
      }
      long long c = channel;
      int taps[3] = {tap[0], tap[1], tap[2]};
#pragma unroll
      for (int e = 0; e < Tile::kPiece; ++e) {
        const Element* from = k + e < end ? this->at(i, taps) : nullptr;
        ((Element*)to)[e] = from ? from[c] : Element(0.0f);
        Base::advance(layout, c, taps, 1);
      }
    }
    this->next();
  }
};

MAX_DEVICE void finish(const Layout& layout, Sum sum, long long pixel, long long filter ADDENDS, Element* y) {
  const long long i = pixel * layout.filters * layout.groups + filter;
  FINISH
  y[i] = (Element)(activated(sum, layout.activationAlpha, layout.activationBeta) LAST);
}

template <int kRows, int kColumns, int kThreads>
MAX_DEVICE void convolve(const Layout& layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  typedef PixelSource<kRows, kThreads> Left;
  const long long rowTiles = (layout.pixels + kRows - 1) / kRows, columnTiles = (layout.filters + kColumns - 1) / kColumns;
  const long long tiles = rowTiles * columnTiles;
  for (long long number = blockIdx.x; number < layout.groups * layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles % layout.splits, group = number / tiles / layout.splits;
    const long long column0 = number % columnTiles * kColumns, row0 = number % tiles / columnTiles * kRows;
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    Left left(layout, x + group * layout.channels, row0, begin, end);
    MatrixSource<Element, kColumns, kThreads, true> right(w + group * layout.filters * layout.wRow, column0,
                                                          layout.filters, layout.wRow, begin, end);
    const long long steps = (end - begin + Left::Tile::kDepth - 1) / Left::Tile::kDepth;
    multiplyTile<kRows, kColumns, kThreads, 2>(left, right, steps, [&](int i, int j, Sum sum) {
      const long long pixel = row0 + i, filter = group * layout.filters + column0 + j;
      if (pixel >= layout.pixels || column0 + j >= layout.filters) return;
      if (layout.splits > 1)
        partial[(split * layout.pixels + pixel) * layout.filters * layout.groups + filter] = sum;
      else
        finish(layout, sum, pixel, filter GIVEN, y);
    });
  }
}

extern "C" __global__ void __launch_bounds__(128)
    gpu_conv_product(const Layout layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  convolve<64, 64, 128>(layout, x, w GIVEN, partial, y);
}
extern "C" __global__ void __launch_bounds__(256)
    gpu_conv_product_large(const Layout layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  convolve<128, 128, 256>(layout, x, w GIVEN, partial, y);
}

// Adds the parts of sums.
extern "C" __global__ void gpu_conv_product_sum(const Layout layout, const Sum* partial ADDENDS, Element* y) {
  const long long filters = layout.filters * layout.groups, count = layout.pixels * filters;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    Sum sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += partial[split * count + i];
    finish(layout, sum, i / filters, i % filters GIVEN, y);
  }
}
)";

std::string sourceFor(const Node& node, const std::string& activation) {
  const Addends addends(node, 2, 3);
  std::string text = kConvolution;
  replaceAll(text, " ADDENDS", addends.parameters);
  replaceAll(text, " GIVEN", addends.given);
  replaceAll(text, "FINISH", addends.before);
  replaceAll(text, "LAST", addends.after);
  return concat(kernelFunctions(), activation, productFunctions(node.input(0)->type.dtype), "struct Layout {",
                pixelFields(), "};\n", pixelFunctions(), text);
}

class PlacedConvolutionProduct final : public Placed {
 public:
  PlacedConvolutionProduct(std::string source, DType dtype)
      : Placed(std::move(source), {"gpu_conv_product", "gpu_conv_product_large", "gpu_conv_product_sum"}),
        dtype_(dtype) {}

  Ref<Tensor> packed(size_t input, const Tensor& weights) const override {
    return input == 1 ? packedFilters(weights) : nullptr;
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const ConvolutionLayout layout = convolutionLayout(request, request.inputs[1].shape, dtype_);
    const ProductPlan plan(dtype_, layout.groups, layout.pixels, layout.filters, layout.depth,
                           {ProductPlan::Form::Large});
    return productOps(*this, request, layout, plan, layout.pixels * layout.filters * layout.groups,
                      {plan.form == ProductPlan::Form::Large ? size_t{1} : size_t{0}, 2, sizeof(float)});
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
