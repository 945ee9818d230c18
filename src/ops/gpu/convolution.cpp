// SPDX-License-Identifier: Apache-2.0
// Conv and max.Conv, channels as the graph has them: a thread for each element of the result.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/windows.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int kMostAxes = 3;

constexpr const char* kConvolution = R"(
struct Layout {
  long long count, pixels, filters, channels, groups, rank;  // channels of a group
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  long long xBatch, xPixel, xChannel;
  float activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_conv(const Layout layout, const Input* x, const Element* w ADDENDS, Element* y) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < layout.count; i += step) {
    const long long filter = CHANNELS_LAST ? i % layout.filters : i / layout.pixels % layout.filters;
    const long long pixel = CHANNELS_LAST ? i / layout.filters % layout.pixels : i % layout.pixels;
    const long long image = i / layout.filters / layout.pixels;
    long long begin[3] = {0, 0, 0}, rest = pixel, taps = 1;
    for (int d = (int)layout.rank - 1; d >= 0; --d) {
      begin[d] = rest % layout.out[d] * layout.stride[d] - layout.pad[d];
      rest /= layout.out[d];
      taps *= layout.kernel[d];
    }
    const long long group = filter / (layout.filters / layout.groups);
    const Input* from = x + image * layout.xBatch + group * layout.channels * layout.xChannel;
    const Element* with = w + filter * layout.channels * taps;
    Sum sum = 0;
    for (long long tap = 0; tap < taps; ++tap) {
      long long at = 0, size = 1, left = tap;
      bool isInside = true;
      for (int d = (int)layout.rank - 1; d >= 0; --d) {
        const long long place = begin[d] + left % layout.kernel[d] * layout.dilation[d];
        left /= layout.kernel[d];
        isInside = isInside && place >= 0 && place < layout.in[d];
        at += place * size;
        size *= layout.in[d];
      }
      if (!isInside) continue;
      for (long long c = 0; c < layout.channels; ++c)
        sum += (Sum)from[at * layout.xPixel + c * layout.xChannel] * (Sum)with[c * taps + tap];
    }
    FINISH
    y[i] = (Element)activated(sum, layout.activationAlpha, layout.activationBeta);
  }
}
)";

struct ConvolutionLayout {
  int64_t count = 0, pixels = 1, filters = 0, channels = 0, groups = 1, rank = 0;
  int64_t in[kMostAxes] = {}, out[kMostAxes] = {}, kernel[kMostAxes] = {}, stride[kMostAxes] = {},
          dilation[kMostAxes] = {}, pad[kMostAxes] = {};
  int64_t xBatch = 0, xPixel = 0, xChannel = 0;
  float activationAlpha = 0, activationBeta = 0;
};

// The product with the channels of each pixel that max.ExpandConv makes first.
constexpr const char* kExpansion = R"(
extern "C" __global__ void gpu_expand(const Element* x, const Element* w BIAS, Sum* y, long long count, long long channels,
                                      long long filters, float alpha, float beta) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const long long filter = i % filters;
    const Element *from = x + i / filters * channels, *with = w + filter * channels;
    Sum sum = START;
    for (long long c = 0; c < channels; ++c) sum += (Sum)from[c] * (Sum)with[c];
    y[i] = expanded(sum, alpha, beta);
  }
}
)";

// Inputs of the convolution itself, by their number in the node.
struct Operands {
  size_t x = 0, weights = 1, bias = 2, residual = 3;

  static Operands of(const Node& node) { return node.op() == "ExpandConv" ? Operands{0, 2, 4, SIZE_MAX} : Operands{}; }
  std::vector<size_t> addends(const Node& node) const {
    std::vector<size_t> present;
    for (const size_t input : {bias, residual})
      if (node.input(input)) present.push_back(input);
    return present;
  }
};

std::string convolutionText(const Node& node) {
  const Operands operands = Operands::of(node);
  std::string addends, finish, text = kConvolution;
  if (node.input(operands.bias)) {
    addends += ", const Element* bias";
    finish += "sum += (Sum)bias[filter];\n";
  }
  if (node.input(operands.residual)) {
    addends += ", const Element* residual";
    finish += "sum += (Sum)residual[i];\n";
  }
  return text.replace(text.find("ADDENDS"), 7, addends).replace(text.find("FINISH"), 6, finish);
}

std::string expansionText(const Node& node) {
  const bool hasBias = node.input(3);
  std::string text = kExpansion;
  text.replace(text.find("BIAS"), 4, hasBias ? ", const Element* bias" : "");
  return text.replace(text.find("START"), 5, hasBias ? "(Sum)bias[filter]" : "0");
}

// Empty if an activation is unknown.
std::string sourceFor(const Node& node, const KernelType& type) {
  const bool expands = node.op() == "ExpandConv";
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  const std::string expansion =
      expands ? activationSource(readers::FusedActivation(node.attributes, "expand_"), "expanded") : "\n";
  if (activation.empty() || expansion.empty()) return "";
  return concat(kernelFunctions(), activation, expansion, "#define CHANNELS_LAST ",
                node.domain() == kMaxDomain ? "true" : "false", "\ntypedef ", type.element, " Element;\ntypedef ",
                type.accumulator, " Sum;\ntypedef ", expands ? "Sum" : "Element", " Input;\n",
                expands ? expansionText(node) : std::string(), convolutionText(node));
}

ConvolutionLayout layoutOf(const Node& node, const Shape& x, const Shape& w, const Shape& y) {
  const bool isLast = node.domain() == kMaxDomain;
  const size_t rank = static_cast<size_t>(x.rank() - 2), first = isLast ? 1 : 2;
  const auto in = x.dims().subspan(first, rank), out = y.dims().subspan(first, rank), sizes = w.dims().subspan(2);
  const readers::FusedActivation activation(node.attributes);
  const std::vector<readers::Window> windows = readers::readWindows(node.attributes, sizes).between(in, out);
  ConvolutionLayout layout;
  layout.count = y.count();
  layout.filters = w[0];
  layout.channels = w[1];
  layout.groups = readers::readGroups(node.attributes);
  layout.rank = static_cast<int64_t>(rank);
  layout.activationAlpha = activation.alpha;
  layout.activationBeta = activation.beta;
  int64_t pixels = 1;
  for (size_t d = 0; d < rank; ++d) {
    layout.in[d] = in[d];
    layout.out[d] = out[d];
    layout.kernel[d] = windows[d].size;
    layout.stride[d] = windows[d].stride;
    layout.dilation[d] = windows[d].dilation;
    layout.pad[d] = windows[d].padBegin;
    layout.pixels *= out[d];
    pixels *= in[d];
  }
  const int64_t all = isLast ? x.back() : x[1];
  layout.xBatch = all * pixels;
  layout.xPixel = isLast ? all : 1;
  layout.xChannel = isLast ? 1 : pixels;
  return layout;
}

void addConvolution(LaunchOp& op, const OpRequest& request, const Shape& x, size_t input) {
  const Operands operands = Operands::of(request.node);
  const Shape& y = request.outputs[0].shape;
  op.addFirst(layoutOf(request.node, x, request.inputs[operands.weights].shape, y));
  op.addInput(input);
  op.addInput(operands.weights);
  for (const size_t addend : operands.addends(request.node)) op.addInput(addend);
  op.addOutput(0);
  op.coverElements(y.count());
}

class PlacedConvolution final : public Placed {
 public:
  explicit PlacedConvolution(std::string source) : Placed(std::move(source), "gpu_conv") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    auto op = std::make_unique<LaunchOp>(*this);
    addConvolution(*op, request, request.inputs[0].shape, 0);
    return op;
  }
};

class PlacedExpansion final : public Placed {
 public:
  PlacedExpansion(std::string source, DType dtype)
      : Placed(std::move(source), {"gpu_conv", "gpu_expand"}),
        sumBytes_(dtype == DType::Float64 ? sizeof(double) : sizeof(float)) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape;
    Shape wide = x;
    wide[wide.rank() - 1] = w[0];
    auto ops = std::make_unique<SeveralOps>(*this, static_cast<size_t>(wide.count()) * sumBytes_);
    const readers::FusedActivation activation(request.node.attributes, "expand_");
    LaunchOp& expansion = ops->add(1);
    for (const size_t input : {0, 1, 3})
      if (request.has(input)) expansion.addInput(input);
    expansion.addOutput(LaunchOp::kScratch);
    for (const int64_t value : {wide.count(), w[1], w[0]}) expansion.addValue(value);
    for (const float value : {activation.alpha, activation.beta}) expansion.addValue(value);
    expansion.coverElements(wide.count());
    addConvolution(ops->add(0), request, wide, LaunchOp::kScratch);
    return ops;
  }

 private:
  size_t sumBytes_;
};

Ref<Placed> placeConvolution(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const KernelType type = kernelType(dtype);
  const Value* w = node.input(Operands::of(node).weights);
  if (!isFloat(dtype) || !type.element || !w || !w->type.ranked) return nullptr;
  if (w->type.rank() < 3 || w->type.rank() > 2 + kMostAxes) return nullptr;
  std::string source = sourceFor(node, type);
  if (source.empty()) return nullptr;
  if (node.op() == "ExpandConv") return makeRef<PlacedExpansion>(std::move(source), dtype);
  return makeRef<PlacedConvolution>(std::move(source));
}

constexpr PlaceRow kRows[] = {{"", "Conv", placeConvolution},
                              {kMaxDomain, "Conv", placeConvolution},
                              {kMaxDomain, "ExpandConv", placeConvolution}};

}  // namespace

std::span<const PlaceRow> gpuConvolutions() { return kRows; }

}  // namespace max
