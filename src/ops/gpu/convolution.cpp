// SPDX-License-Identifier: Apache-2.0
// Conv and max.Conv, channels as the graph has them: a thread for each element of the result.
#include "base/error.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/convolution_product.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"

namespace max {

namespace {

constexpr const char* kConvolution = R"(
struct Layout {
  Windows windows;
  long long filters, channels, groups;  // channels of a group
  float activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_conv(const Layout layout, const Input* x, const Element* w ADDENDS, Element* y) {
  const Windows& windows = layout.windows;
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, layout.filters);
    const long long filter = place.channel, group = filter / (layout.filters / layout.groups);
    const Input* from = x + place.image * windows.xBatch + group * layout.channels * windows.xChannel;
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

// The product with the channels of each pixel that max.ExpandConv makes first.
constexpr const char* kExpansion = R"(
extern "C" __global__ void gpu_expand(const Element* x, const Element* w BIAS, Sum* y, long long count, long long channels,
                                      long long filters, float alpha, float beta) {
  EACH(i, count) {
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
  const Addends addends(node, operands.bias, operands.residual);
  return filledIn(kConvolution, {{"ADDENDS", addends.parameters}, {"FINISH", addends.before}, {"LAST", addends.after}});
}

std::string expansionText(const Node& node) {
  const bool hasBias = node.input(3);
  return filledIn(kExpansion,
                  {{"BIAS", hasBias ? ", const Element* bias" : ""}, {"START", hasBias ? "(Sum)bias[filter]" : "0"}});
}

// Empty if an activation is unknown.
std::string sourceFor(const Node& node, DType dtype) {
  const bool expands = node.op() == "ExpandConv";
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  const std::string expansion =
      expands ? activationSource(readers::FusedActivation(node.attributes, "expand_"), "expanded") : "\n";
  if (activation.empty() || expansion.empty()) return "";
  return concat(kernelFunctions(), typesSource(dtype), activation, expansion, "typedef ", expands ? "Sum" : "Element",
                " Input;\n", expands ? expansionText(node) : std::string(), windowSource(isChannelsLast(node), false),
                convolutionText(node));
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
  if (Ref<Placed> product = placeConvolutionProduct(node)) return product;
  const DType dtype = node.input(0)->type.dtype;
  const Value* w = node.input(Operands::of(node).weights);
  if (!isFloat(dtype) || !kernelType(dtype).element || !w || !w->type.ranked) return nullptr;
  if (w->type.rank() < 3 || w->type.rank() > 2 + kMostWindowAxes) return nullptr;
  std::string source = sourceFor(node, dtype);
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
