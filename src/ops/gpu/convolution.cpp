// SPDX-License-Identifier: Apache-2.0
// Conv and max.Conv that are no products: depthwise ones whose channels come last, and others, channels as the graph
// has them, with a thread for each element of the result.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/convolution_product.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"

namespace max {

namespace {

constexpr size_t kBias = 2, kResidual = 3;
constexpr int64_t kMostColumns = 16, kFewTaps = 25;  // of windows: registers that weights of a line take; unrolled

constexpr const char* kConvolution = R"(
struct Layout {
  Windows windows;
  long long filters, channels, groups;  // channels of a group
  float activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_conv(const Layout layout, const Element* x, const Element* w ADDENDS, Element* y) {
  const Windows& windows = layout.windows;
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, layout.filters);
    const long long filter = place.channel, group = filter / (layout.filters / layout.groups);
    const Element* from = x + place.image * windows.xBatch + group * layout.channels * windows.xChannel;
    const Element* with = w + filter * layout.channels * windows.taps;
    Sum sum = 0;
    for (long long k = 0; k < windows.taps; ++k) {
      const Tap tap = tapOf(windows, place, k);
      if (!tap.isInside) continue;
      for (long long c = 0; c < layout.channels; ++c)
        sum += (Sum)from[tap.pixel * windows.xPixel + c * windows.xChannel] * (Sum)with[c * windows.taps + k];
    }
    FINISH
    y[i] = (Element)(activated(sum, layout.activationAlpha, layout.activationBeta) LAST);
  }
}
)";

struct ConvolutionLayout {
  WindowLayout windows;
  int64_t filters = 0, channels = 0, groups = 1;
  float activationAlpha = 0, activationBeta = 0;
};

// One filter for each channel, channels last: a thread has a piece of the channels of kAcross pixels of a line, which
// share what lies below their windows. Weights are stored tap by tap.
constexpr const char* kDepthwise = R"(
struct Layout {
  long long images, pieces, xImage, wTap;
  int channels, lines, in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];  // lines: parts of the last axis
  float activationAlpha, activationBeta;
};

template <int kAcross>
static inline __device__ void convolve(const Layout& layout, const Element* x, const Element* w ADDENDS, Element* y) {
  const bool isWhole = layout.channels % PIECE == 0 && isAligned(x) && isAligned(y);
  const long long count = layout.images * layout.out[0] * layout.out[1] * layout.lines * layout.pieces;
  EACH(item, count) {
    long long rest = item / layout.pieces;
    const int channel = (int)(item - rest * layout.pieces) * PIECE, valid = layout.channels - channel;
    const int column = (int)(rest % layout.lines) * kAcross;
    rest /= layout.lines;
    const int row = (int)(rest % layout.out[1]);
    rest /= layout.out[1];
    const int plane = (int)(rest % layout.out[0]);
    const Element* from = x + rest / layout.out[0] * layout.xImage + channel;
    const Element* with = w + channel;
    Sum sums[kAcross][PIECE] = {};
    for (int a = 0; a < layout.kernel[0]; ++a) {
      const int xPlane = plane * layout.stride[0] - layout.pad[0] + a * layout.dilation[0];
      if (xPlane < 0 || xPlane >= layout.in[0]) continue;
#pragma unroll UNROLLED
      for (int b = 0; b < KERNEL_ROWS; ++b) {
        const int xRow = row * layout.stride[1] - layout.pad[1] + b * layout.dilation[1];
        if (xRow < 0 || xRow >= layout.in[1]) continue;
        const Element* line = from + ((long long)xPlane * layout.in[1] + xRow) * layout.in[2] * layout.channels;
        const Element* taps = with + (a * KERNEL_ROWS + b) * KERNEL_COLUMNS * layout.wTap;
        Element weights[KERNEL_COLUMNS][PIECE];
#pragma unroll UNROLLED_COLUMNS
        for (int c = 0; c < KERNEL_COLUMNS; ++c) takePiece(weights[c], taps + c * layout.wTap, PIECE, true);
        const int first = column * layout.stride[2] - layout.pad[2];
#pragma unroll UNROLLED_COLUMNS
        for (int c = 0; c < KERNEL_COLUMNS + kAcross - 1; ++c) {
          const int xColumn = first + c * layout.dilation[2];
          Element piece[PIECE] = {};
          if (xColumn >= 0 && xColumn < layout.in[2])
            takePiece(piece, line + (long long)xColumn * layout.channels, valid, isWhole);
#pragma unroll
          for (int j = 0; j < kAcross; ++j) {
            if (c < j || c - j >= KERNEL_COLUMNS) continue;
#pragma unroll
            for (int e = 0; e < PIECE; ++e) sums[j][e] += (Sum)piece[e] * (Sum)weights[c - j][e];
          }
        }
      }
    }
    const long long to = (item / layout.pieces / layout.lines * layout.out[2] + column) * layout.channels + channel;
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      if (column + j >= layout.out[2]) continue;
      Element piece[PIECE];
#pragma unroll
      for (int e = 0; e < PIECE; ++e) {
        const long long filter = channel + e, i = to + j * layout.channels + e;
        Sum sum = sums[j][e];
        if (e < valid) {
          FINISH
          piece[e] = (Element)(activated(sum, layout.activationAlpha, layout.activationBeta) LAST);
        }
      }
      givePiece(y + to + j * layout.channels, piece, valid, isWhole);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    gpu_depthwise(const Layout layout, const Element* x, const Element* w ADDENDS, Element* y) {
  convolve<1>(layout, x, w GIVEN, y);
}
extern "C" __global__ void __launch_bounds__(256)
    gpu_depthwise_line(const Layout layout, const Element* x, const Element* w ADDENDS, Element* y) {
  convolve<4>(layout, x, w GIVEN, y);
}
)";

std::string convolutionText(const Node& node) {
  const Addends addends(node, kBias, kResidual);
  return filledIn(kConvolution, {{"ADDENDS", addends.parameters}, {"FINISH", addends.before}, {"LAST", addends.after}});
}

// Empty if the activation is unknown.
std::string sourceFor(const Node& node, DType dtype, const std::string& text) {
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  return activation.empty() ? "" : concat(kernelFunctions(), typesSource(dtype), activation, text);
}

ConvolutionLayout layoutOf(const Node& node, const Shape& x, const Shape& w, const Shape& y) {
  const bool isLast = isChannelsLast(node);
  const readers::FusedActivation activation(node.attributes);
  const auto windows =
      readers::readWindows(node.attributes, w.dims().subspan(2)).between(imageAxes(x, isLast), imageAxes(y, isLast));
  return {windowLayout(x, y, windows, isLast),
          w[0],
          w[1],
          readers::readGroups(node.attributes),
          activation.alpha,
          activation.beta};
}

class PlacedConvolution final : public Placed {
 public:
  explicit PlacedConvolution(std::string source) : Placed(std::move(source), "gpu_conv") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    auto op = launchOf(*this, request);
    const Shape& y = request.outputs[0].shape;
    op->addFirst(layoutOf(request.node, request.inputs[0].shape, request.inputs[1].shape, y));
    op->coverElements(y.count());
    return op;
  }
};

struct DepthwiseLayout {
  int64_t images = 0, pieces = 0, xImage = 0, wTap = 0;
  int32_t channels = 0, lines = 1, in[kMostWindowAxes] = {1, 1, 1}, out[kMostWindowAxes] = {1, 1, 1},
          kernel[kMostWindowAxes] = {1, 1, 1}, stride[kMostWindowAxes] = {1, 1, 1},
          dilation[kMostWindowAxes] = {1, 1, 1}, pad[kMostWindowAxes] = {};
  float activationAlpha = 0, activationBeta = 0;
};

int64_t pieceOf(DType dtype) { return 16 / static_cast<int64_t>(sizeOf(dtype)); }
int64_t paddedChannels(int64_t channels, DType dtype) {
  return (channels + pieceOf(dtype) - 1) / pieceOf(dtype) * pieceOf(dtype);
}

// [tap, channel], each tap at a multiple of 16 bytes.
Ref<Tensor> tapByTap(const Tensor& weights) {
  const int64_t channels = weights.shape()[0], taps = weights.count() / channels;
  const int64_t row = paddedChannels(channels, weights.dtype());
  Ref<Tensor> packed = Tensor::allocate(weights.dtype(), {taps, row});
  const size_t size = sizeOf(weights.dtype());
  std::memset(packed->mutableData(), 0, packed->bytes());
  auto* to = static_cast<std::byte*>(packed->mutableData());
  const auto* from = weights.as<std::byte>();
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap, from += size)
      std::memcpy(to + static_cast<size_t>(tap * row + c) * size, from, size);
  return packed;
}

class PlacedDepthwise final : public Placed {
 public:
  PlacedDepthwise(std::string source, DType dtype)
      : Placed(std::move(source), {"gpu_depthwise", "gpu_depthwise_line"}), dtype_(dtype) {}

  Ref<Tensor> packed(size_t input, const Tensor& weights) const override {
    return input == 1 ? tapByTap(weights) : nullptr;
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    DepthwiseLayout layout = layoutOf(request);
    const int64_t pixels = layout.images * layout.out[0] * layout.out[1], all = pixels * layout.out[2] * layout.pieces;
    const bool isLine = layout.stride[2] == 1 && layout.dilation[2] == 1 && all >= kManyPieces;
    if (isLine) layout.lines = static_cast<int32_t>((layout.out[2] + kAcross - 1) / kAcross);
    auto op = std::make_unique<LaunchOp>(*this, isLine);
    op->addFirst(layout);
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    op->addOutput(0);
    op->coverElements(pixels * layout.lines * layout.pieces);
    return op;
  }

 private:
  static constexpr int64_t kAcross = 4;            // as in the kernel
  static constexpr int64_t kManyPieces = 1 << 18;  // that fill a device with fewer threads, too

  DepthwiseLayout layoutOf(const OpRequest& request) const {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
    const auto in = imageAxes(x, true), out = imageAxes(y, true);
    const auto windows = readers::readWindows(request.node.attributes, w.dims().subspan(2)).between(in, out);
    const readers::FusedActivation activation(request.node.attributes);
    DepthwiseLayout layout;
    const size_t skipped = kMostWindowAxes - in.size();
    const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
    for (size_t d = 0; d < in.size(); ++d) {
      layout.in[skipped + d] = number(in[d]);
      layout.out[skipped + d] = number(out[d]);
      layout.kernel[skipped + d] = number(windows[d].size);
      layout.stride[skipped + d] = number(windows[d].stride);
      layout.dilation[skipped + d] = number(windows[d].dilation);
      layout.pad[skipped + d] = number(windows[d].padBegin);
    }
    layout.images = x[0];
    layout.channels = number(w[0]);
    layout.wTap = paddedChannels(w[0], dtype_);
    layout.pieces = layout.wTap / pieceOf(dtype_);
    layout.xImage = x.product(1, x.rank());
    layout.lines = layout.out[2];
    layout.activationAlpha = activation.alpha;
    layout.activationBeta = activation.beta;
    return layout;
  }

  DType dtype_;
};

// With windows that are worth a kernel of their own. Sizes of images must be known to be those of 32 bits.
bool isDepthwise(const Node& node) {
  const Value* w = node.input(1);
  if (!node.isOwn("Conv") || !w || !w->constant || !w->constant->hasContents()) return false;
  const Shape& shape = w->constant->shape();
  return shape.rank() >= 3 && shape.rank() <= 2 + kMostWindowAxes && shape[1] == 1 && shape[0] > 0 &&
         readers::readGroups(node.attributes) == shape[0] && shape.back() <= kMostColumns &&
         shape.product(2, shape.rank()) > 0;
}

bool ownsWeights(const Value& weights) {
  return !weights.isOutput() && std::all_of(weights.uses.begin(), weights.uses.end(), [&](const Use& use) {
    return use.index == 1 && use.node->graph == weights.graph && isDepthwise(*use.node);
  });
}

Ref<Placed> placeDepthwise(const Node& node) {
  if (!isDepthwise(node) || !ownsWeights(*node.input(1))) return nullptr;
  const DType dtype = node.input(0)->type.dtype;
  const Shape& w = node.input(1)->constant->shape();
  const int64_t columns = w.back(), rows = w.rank() > 3 ? w[w.rank() - 2] : 1;
  const Addends addends(node, kBias, kResidual);
  const std::string text = filledIn(kDepthwise, {{"ADDENDS", addends.parameters},
                                                 {"GIVEN", addends.given},
                                                 {"FINISH", addends.before},
                                                 {"LAST", addends.after},
                                                 {"UNROLLED_COLUMNS", concat(columns + 3)},
                                                 {"UNROLLED", concat(rows * columns <= kFewTaps ? rows : 1)},
                                                 {"KERNEL_ROWS", concat(rows)},
                                                 {"KERNEL_COLUMNS", concat(columns)}});
  std::string source = sourceFor(node, dtype, concat(pieceSource(), text));
  return source.empty() ? nullptr : makeRef<PlacedDepthwise>(std::move(source), dtype);
}

Ref<Placed> placeConvolution(const Node& node) {
  if (Ref<Placed> product = placeConvolutionProduct(node)) return product;
  const DType dtype = node.input(0)->type.dtype;
  const Value* w = node.input(1);
  if (!isFloat(dtype) || !kernelType(dtype).element || !w || !w->type.ranked) return nullptr;
  if (w->type.rank() < 3 || w->type.rank() > 2 + kMostWindowAxes) return nullptr;
  if (Ref<Placed> depthwise = placeDepthwise(node)) return depthwise;
  std::string source = sourceFor(node, dtype, concat(windowSource(isChannelsLast(node), false), convolutionText(node)));
  return source.empty() ? nullptr : makeRef<PlacedConvolution>(std::move(source));
}

constexpr PlaceRow kRows[] = {{"", "Conv", placeConvolution}, {kMaxDomain, "Conv", placeConvolution}};

}  // namespace

std::span<const PlaceRow> gpuConvolutions() { return kRows; }

}  // namespace max
