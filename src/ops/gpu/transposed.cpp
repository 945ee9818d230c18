// SPDX-License-Identifier: Apache-2.0
// ConvTranspose and max.ConvTranspose, channels as the graph has them: a thread for each element of the result, which
// gathers what the input's pixels add to it.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/windows.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int kMostAxes = 3;

constexpr const char* kTransposed = R"(
struct Layout {
  long long count, pixels, filters, channels, groups, rank;  // of all groups
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  long long xBatch, xPixel, xChannel;
  float activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_conv_transpose(const Layout layout, const Element* x, const Element* w BIAS, Element* y) {
  const long long step = (long long)gridDim.x * blockDim.x;
  const long long perGroup = layout.filters / layout.groups, channels = layout.channels / layout.groups;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < layout.count; i += step) {
    const long long filter = CHANNELS_LAST ? i % layout.filters : i / layout.pixels % layout.filters;
    const long long pixel = CHANNELS_LAST ? i / layout.filters % layout.pixels : i % layout.pixels;
    const long long image = i / layout.filters / layout.pixels, group = filter / perGroup;
    long long place[3] = {0, 0, 0}, rest = pixel, taps = 1;
    for (int d = (int)layout.rank - 1; d >= 0; --d) {
      place[d] = rest % layout.out[d] + layout.pad[d];
      rest /= layout.out[d];
      taps *= layout.kernel[d];
    }
    const Element* from = x + image * layout.xBatch + group * channels * layout.xChannel;
    const Element* with = w + (group * channels * perGroup + filter % perGroup) * taps;
    Sum sum = START;
    for (long long tap = 0; tap < taps; ++tap) {
      long long at = 0, size = 1, left = tap;
      bool isMet = true;
      for (int d = (int)layout.rank - 1; d >= 0; --d) {
        const long long distance = place[d] - left % layout.kernel[d] * layout.dilation[d];
        left /= layout.kernel[d];
        const long long source = distance / layout.stride[d];
        isMet = isMet && distance >= 0 && distance % layout.stride[d] == 0 && source < layout.in[d];
        at += source * size;
        size *= layout.in[d];
      }
      if (!isMet) continue;
      for (long long c = 0; c < channels; ++c)
        sum += (Sum)from[at * layout.xPixel + c * layout.xChannel] * (Sum)with[c * perGroup * taps + tap];
    }
    y[i] = (Element)activated(sum, layout.activationAlpha, layout.activationBeta);
  }
}
)";

struct TransposedLayout {
  int64_t count = 0, pixels = 1, filters = 0, channels = 0, groups = 1, rank = 0;
  int64_t in[kMostAxes] = {}, out[kMostAxes] = {}, kernel[kMostAxes] = {}, stride[kMostAxes] = {},
          dilation[kMostAxes] = {}, pad[kMostAxes] = {};
  int64_t xBatch = 0, xPixel = 0, xChannel = 0;
  float activationAlpha = 0, activationBeta = 0;
};

bool isChannelsLast(const Node& node) { return node.domain() == kMaxDomain; }

std::string sourceFor(const Node& node, const KernelType& type, const std::string& activation) {
  std::string text = kTransposed;
  const bool hasBias = node.input(2);
  text.replace(text.find("BIAS"), 4, hasBias ? ", const Element* bias" : "");
  text.replace(text.find("START"), 5, hasBias ? "(Sum)bias[filter]" : "0");
  return concat(kernelFunctions(), activation, "#define CHANNELS_LAST ", isChannelsLast(node) ? "true" : "false",
                "\ntypedef ", type.element, " Element;\ntypedef ", type.accumulator, " Sum;\n", text);
}

class PlacedTransposed final : public Placed {
 public:
  explicit PlacedTransposed(std::string source) : Placed(std::move(source), "gpu_conv_transpose") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    auto op = std::make_unique<LaunchOp>(*this);
    op->addFirst(layoutOf(request));
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (request.has(i)) op->addInput(i);
    op->addOutput(0);
    op->coverElements(request.outputs[0].shape.count());
    return op;
  }

 private:
  static TransposedLayout layoutOf(const OpRequest& request) {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
    const bool isLast = isChannelsLast(request.node);
    const size_t rank = static_cast<size_t>(x.rank() - 2), first = isLast ? 1 : 2;
    const auto in = x.dims().subspan(first, rank), out = y.dims().subspan(first, rank), sizes = w.dims().subspan(2);
    const readers::FusedActivation activation(request.node.attributes);
    const readers::Transposed reader(request.node.attributes, sizes);
    TransposedLayout layout;
    layout.count = y.count();
    layout.channels = w[0];
    layout.groups = readers::readGroups(request.node.attributes);
    layout.filters = w[1] * layout.groups;
    layout.rank = static_cast<int64_t>(rank);
    layout.activationAlpha = activation.alpha;
    layout.activationBeta = activation.beta;
    int64_t pixels = 1;
    for (size_t d = 0; d < rank; ++d) {
      const readers::Window& window = reader.windows.axes[d];
      layout.in[d] = in[d];
      layout.out[d] = out[d];
      layout.kernel[d] = window.size;
      layout.stride[d] = window.stride;
      layout.dilation[d] = window.dilation;
      layout.pad[d] = reader.padBegin(d, in[d], out[d]);
      layout.pixels *= out[d];
      pixels *= in[d];
    }
    layout.xBatch = layout.channels * pixels;
    layout.xPixel = isLast ? layout.channels : 1;
    layout.xChannel = isLast ? 1 : pixels;
    return layout;
  }
};

Ref<Placed> placeTransposed(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const TensorType& w = node.input(1)->type;
  const KernelType type = kernelType(dtype);
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  if (!isFloat(dtype) || !type.element || activation.empty()) return nullptr;
  if (!w.ranked || w.rank() < 3 || w.rank() > 2 + kMostAxes) return nullptr;
  return makeRef<PlacedTransposed>(sourceFor(node, type, activation));
}

constexpr PlaceRow kRows[] = {{"", "ConvTranspose", placeTransposed}, {kMaxDomain, "ConvTranspose", placeTransposed}};

}  // namespace

std::span<const PlaceRow> gpuTransposed() { return kRows; }

}  // namespace max
