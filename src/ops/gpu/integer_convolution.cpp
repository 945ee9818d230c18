// SPDX-License-Identifier: Apache-2.0
// Convolutions of 8-bit integers. Those whose channels come last, with several channels and filters, are products of
// matrices; of the others, as of depthwise ones, a thread computes an element of the result.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "graph/readers/quantization.h"
#include "ops/gpu/byte_source.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/pixel_source.h"
#include "ops/gpu/product_ops.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"

namespace max {

namespace {

// Pads add nothing.
constexpr const char* kPlain = R"(
struct Layout {
  Windows windows;
  long long filters, channels, groups, wZeros, wScales;  // channels of a group
};

extern "C" __global__ void gpu_integer_conv(const Layout layout INPUTS, Result* y) {
  const Windows& windows = layout.windows;
  const int xZero = X_ZERO;
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, layout.filters);
    const long long filter = place.channel, group = filter / (layout.filters / layout.groups);
    const X* from = x + place.image * windows.xBatch + group * layout.channels * windows.xChannel;
    const W* with = w + filter * layout.channels * windows.taps;
    const int wZero = W_ZERO;
    unsigned sum = 0;  // wraps
    for (long long k = 0; k < windows.taps; ++k) {
      const Tap tap = tapOf(windows, place, k);
      if (!tap.isInside) continue;
      for (long long c = 0; c < layout.channels; ++c)
        sum += (unsigned)(((int)from[tap.pixel * windows.xPixel + c * windows.xChannel] - xZero) *
                          ((int)with[c * windows.taps + k] - wZero));
    }
    FINISH
  }
}
)";

// Pads are zero points, which add nothing.
constexpr const char* kProduct = R"(
template <int kRows, int kThreads>
struct BytePixels : Pixels<X, kRows, kThreads> {
  typedef Pixels<X, kRows, kThreads> Base;
  typedef MaxTile<Element, kRows, true> Tile;
  using Base::kEach;
  using Base::left;
  unsigned pad;
  int sums[kEach];

  inline __device__ BytePixels(const Layout& shape, const X* x, int zero, long long first, long long begin, long long past)
      : Base(shape, x, first, begin, past), pad((zero ^ signsOf<X>()) & 0xff) {
    for (int i = 0; i < kEach; ++i) sums[i] = 0;
  }
  inline __device__ void load(const Tile& tile) {
    if (this->aligned) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const X* from = left > 0 ? this->at(i) : nullptr;
        const unsigned outside = left > 0 ? pad * 0x01010101u : 0;
        unsigned words[4] = {outside, outside, outside, outside};
        if (from) takeBytes(words, from, 1, 16, true);
        sums[i] += sumOfBytes(words);
        memcpy(tile.at((threadIdx.x + i * kThreads) / 4, threadIdx.x % 4 * 16), words, 16);
      }
      this->next();
      return;
    }
#pragma unroll 1
    for (int e = 0; e < 16; ++e) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const X* from = left > e ? this->at(i) : nullptr;
        const unsigned byte = from ? (*from ^ signsOf<X>()) & 0xff : left > e ? pad : 0;
        sums[i] += (signed char)byte;
        *(unsigned char*)tile.at((threadIdx.x + i * kThreads) / 4, threadIdx.x % 4 * 16 + e) = (unsigned char)byte;
      }
      this->advance(1);
    }
    left -= Tile::kDepth;
    this->advance(Tile::kDepth - 16);
  }
  inline __device__ void give(int (*all)[4]) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) all[(threadIdx.x + i * kThreads) / 4][threadIdx.x % 4] = sums[i];
  }
};

MAX_DEVICE void finish(const Layout& layout, unsigned sum, long long i, long long filter INPUTS, Result* y) {
  FINISH
}

template <int kRows, int kColumns, int kThreads>
MAX_DEVICE void convolve(const Layout& layout INPUTS, int* partial, Result* y) {
  const long long rowTiles = (layout.pixels + kRows - 1) / kRows, columnTiles = (layout.filters + kColumns - 1) / kColumns;
  const long long tiles = rowTiles * columnTiles, all = layout.filters * layout.groups;
  const int xZero = X_ZERO;
  for (long long number = blockIdx.x; number < layout.groups * layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles % layout.splits, group = number / tiles / layout.splits;
    const long long column0 = number % columnTiles * kColumns, row0 = number % tiles / columnTiles * kRows;
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    BytePixels<kRows, kThreads> left(layout, x + group * layout.channels, xZero, row0, begin, end);
    ByteSource<W, kColumns, kThreads, true> right(w + group * layout.filters * layout.wRow, column0, layout.filters,
                                                  layout.wRow, begin, end);
    multiplyBytes<kRows, kColumns, kThreads, 2>(
        left, right, end - begin, [&](int) { return withoutSign<X>(xZero); },
        [&](int c) {
          const long long filter = group * layout.filters + column0 + c;
          (void)filter;
          return column0 + c < layout.filters ? withoutSign<W>(W_ZERO) : 0;
        },
        [&](int r, int c, unsigned sum) {
          const long long pixel = row0 + r, filter = group * layout.filters + column0 + c;
          if (pixel >= layout.pixels || column0 + c >= layout.filters) return;
          if (layout.splits > 1)
            partial[(split * layout.pixels + pixel) * all + filter] = (int)sum;
          else
            finish(layout, sum, pixel * all + filter, filter GIVEN, y);
        });
  }
}

extern "C" __global__ void __launch_bounds__(128)
    gpu_integer_conv_product(const Layout layout INPUTS, int* partial, Result* y) {
  convolve<64, 64, 128>(layout GIVEN, partial, y);
}
extern "C" __global__ void __launch_bounds__(256)
    gpu_integer_conv_product_large(const Layout layout INPUTS, int* partial, Result* y) {
  convolve<128, 128, 256>(layout GIVEN, partial, y);
}

extern "C" __global__ void gpu_integer_conv_product_sum(const Layout layout, const int* partial INPUTS, Result* y) {
  const long long all = layout.filters * layout.groups, count = layout.pixels * all;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += (unsigned)partial[split * count + i];
    finish(layout, sum, i, i % all GIVEN, y);
  }
}
)";

struct PlainLayout {
  WindowLayout windows;
  int64_t filters, channels, groups, wZeros, wScales;
};

// Inputs, by their numbers; SIZE_MAX = none.
struct ConvolutionOperands {
  bool isPlain;
  size_t w, wZero, wScale;
  std::initializer_list<const char*> names;

  static ConvolutionOperands of(const Node& node) {
    static constexpr std::initializer_list<const char*> kPlainNames = {"x", "w", "xZero_", "wZero_"};
    static constexpr std::initializer_list<const char*> kScaledNames = {
        "x",        "xScale",        "xZero_",       "w",        "wScale",  "wZero_",  "yScale",     "yZero", "bias",
        "residual", "residualScale", "residualZero", "sumScale", "sumZero", "addends", "multipliers"};
    if (node.op() == "ConvInteger") return {true, 1, 3, SIZE_MAX, kPlainNames};
    return {false, 3, 5, 4, kScaledNames};
  }
};

std::unique_ptr<OpKernel> createPlain(const Placed& placed, const OpRequest& request) {
  const ConvolutionOperands operands = ConvolutionOperands::of(request.node);
  const bool isLast = isChannelsLast(request.node);
  const Shape &x = request.inputs[0].shape, &w = request.inputs[operands.w].shape, &y = request.outputs[0].shape;
  const auto windows = readers::readWindows(request.node.attributes, w.dims().subspan(2))
                           .between(imageAxes(x, isLast), imageAxes(y, isLast));
  auto op = launchOf(placed, request);
  op->addFirst(PlainLayout{windowLayout(x, y, windows, isLast), w[0], w[1],
                           readers::readGroups(request.node.attributes), countOf(request, operands.wZero),
                           countOf(request, operands.wScale)});
  op->coverElements(y.count());
  return op;
}

struct ProductLayout : ConvolutionLayout {
  int64_t wZeros = 1, wScales = 1;
};

class PlacedIntegerConvolution final : public Placed {
 public:
  PlacedIntegerConvolution(std::string source, size_t w)
      : Placed(std::move(source),
               {"gpu_integer_conv_product", "gpu_integer_conv_product_large", "gpu_integer_conv_product_sum"}),
        w_(w) {}

  Ref<Tensor> packed(size_t input, const Tensor& weights) const override {
    return input == w_ ? packedFilters(weights) : nullptr;
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const ConvolutionOperands operands = ConvolutionOperands::of(request.node);
    ProductLayout layout{convolutionLayout(request, request.inputs[w_].shape, DType::Int8),
                         countOf(request, operands.wZero), countOf(request, operands.wScale)};
    const ProductPlan plan(DType::Int8, layout.groups, layout.pixels, layout.filters, layout.depth,
                           {ProductPlan::Form::Large});
    return productOps(*this, request, layout, plan, layout.pixels * layout.filters * layout.groups,
                      {plan.form == ProductPlan::Form::Large ? size_t{1} : size_t{0}, 2, sizeof(int32_t), 0});
  }

 private:
  size_t w_;
};

bool isProduct(const Node& node) {
  return (node.isOwn("ConvInteger") || node.isOwn("QLinearConv")) && haveTypes(node) &&
         fillsTiles(node, ConvolutionOperands::of(node).w);
}

// Whether all that read the weights are such products, for which alone they are stored.
bool ownsWeights(const Value& weights) {
  return !weights.isOutput() && std::ranges::all_of(weights.uses, [&](const Use& use) {
    return use.node->graph == weights.graph && isProduct(*use.node) &&
           static_cast<size_t>(use.index) == ConvolutionOperands::of(*use.node).w;
  });
}

// What follows the sum of a QLinearConv; of the compiler's, perhaps another number is added and the sum quantised
// again.
std::string finishOf(const Node& node) {
  const DType y = node.output(0)->type.dtype, middle = node.input(7)->type.dtype;
  const readers::QuantizedRange range(node.attributes, y), whole(Attributes(), middle);
  std::string text =
      concat(node.input(8) ? "sum += (unsigned)bias[filter];\n" : "",
             "const float factor = *xScale * wScale[layout.wScales == 1 ? 0 : filter % layout.wScales] / *yScale;\n"
             "int value = requantized((float)(int)sum, factor) + *yZero;\n");
  if (node.input(9) || node.input(14)) {
    const bool isResidual = node.input(9);
    text += concat("value = value > ", whole.low, " ? value < ", whole.high, " ? value : ", whole.high, " : ",
                   whole.low, ";\nconst float own = __fmul_rn((float)value - (float)*yZero, ",
                   node.input(15) ? "__fmul_rn(*yScale / *sumScale, multipliers[filter])" : "*yScale / *sumScale",
                   ");\n", "const float other = ",
                   isResidual ? "__fmul_rn((float)residual[i] - (float)*residualZero, *residualScale / *sumScale);\n"
                              : "addends[filter] / *sumScale;\n",
                   "value = requantized(1.0f, own + other) + *sumZero;\n");
  }
  return text + concat("y[i] = value > ", range.low, " ? value < ", range.high, " ? value : ", range.high, " : ",
                       range.low, ";");
}

Ref<Placed> placeConvolution(const Node& node) {
  const ConvolutionOperands operands = ConvolutionOperands::of(node);
  const Value *w = node.input(operands.w), *y = node.output(0);
  if (!haveTypes(node) || !w->type.ranked || w->type.rank() < 3 || w->type.rank() > 2 + kMostWindowAxes) return nullptr;
  const bool makesProduct = isProduct(node) && ownsWeights(*w);
  const std::string types =
      concat("typedef ", kernelType(node.input(0)->type.dtype).element, " X;\ntypedef ",
             kernelType(w->type.dtype).element, " W;\ntypedef ", kernelType(y->type.dtype).element, " Result;\n");
  const std::string text = filledIn(
      makesProduct ? kProduct : kPlain,
      {{"INPUTS", parametersOf(node, operands.names)},
       {"GIVEN", argumentsOf(node, operands.names)},
       {"X_ZERO", node.input(2) ? "*xZero_" : "0"},
       {"W_ZERO", node.input(operands.wZero) ? "wZero_[layout.wZeros == 1 ? 0 : filter % layout.wZeros]" : "0"},
       {"FINISH", operands.isPlain ? "y[i] = (int)sum;" : finishOf(node)}});
  if (makesProduct)
    return makeRef<PlacedIntegerConvolution>(
        concat(requantizedSource(), byteFunctions(), types, "struct Layout {", pixelFields(),
               "  long long wZeros, wScales;\n};\n", pixelFunctions(), text),
        operands.w);
  return placedAs(
      concat(requantizedSource(), typesSource(DType::Float32), types, windowSource(isChannelsLast(node), false), text),
      {"gpu_integer_conv"}, createPlain);
}

constexpr PlaceRow kRows[] = {{"", "ConvInteger", placeConvolution},
                              {kMaxDomain, "ConvInteger", placeConvolution},
                              {"", "QLinearConv", placeConvolution},
                              {kMaxDomain, "QLinearConv", placeConvolution}};

}  // namespace

std::span<const PlaceRow> gpuIntegerConvolutions() { return kRows; }

}  // namespace max
