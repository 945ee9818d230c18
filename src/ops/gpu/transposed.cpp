// SPDX-License-Identifier: Apache-2.0
// ConvTranspose and max.ConvTranspose, channels as the graph has them: a thread for each element of the result, which
// gathers what the input's pixels add to it.
#include "base/error.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"

namespace max {

namespace {

constexpr const char* kTransposed = R"(
struct Layout {
  Windows windows;
  long long filters, channels, groups;  // of all groups
  float activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_conv_transpose(const Layout layout, const Element* x, const Element* w BIAS, Element* y) {
  const Windows& windows = layout.windows;
  const long long perGroup = layout.filters / layout.groups, channels = layout.channels / layout.groups;
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, layout.filters);
    const long long filter = place.channel, group = filter / perGroup;
    const Element* from = x + place.image * windows.xBatch + group * channels * windows.xChannel;
    const Element* with = w + (group * channels * perGroup + filter % perGroup) * windows.taps;
    Sum sum = START;
    for (long long k = 0; k < windows.taps; ++k) {
      const Tap tap = tapOf(windows, place, k);
      if (!tap.isInside) continue;
      for (long long c = 0; c < channels; ++c)
        sum += (Sum)from[tap.pixel * windows.xPixel + c * windows.xChannel] * (Sum)with[c * perGroup * windows.taps + k];
    }
    y[i] = (Element)activated(sum, layout.activationAlpha, layout.activationBeta);
  }
}
)";

struct TransposedLayout {
  WindowLayout windows;
  int64_t filters = 0, channels = 0, groups = 1;
  float activationAlpha = 0, activationBeta = 0;
};

std::string sourceFor(const Node& node, const std::string& activation) {
  const bool hasBias = node.input(2);
  return concat(
      kernelFunctions(), typesSource(node.input(0)->type.dtype), activation, windowSource(isChannelsLast(node), true),
      filledIn(kTransposed,
               {{"BIAS", hasBias ? ", const Element* bias" : ""}, {"START", hasBias ? "(Sum)bias[filter]" : "0"}}));
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
    const readers::FusedActivation activation(request.node.attributes);
    const readers::Transposed reader(request.node.attributes, w.dims().subspan(2));
    std::vector<readers::Window> windows = reader.windows.axes;
    for (size_t d = 0; d < windows.size(); ++d)
      windows[d].padBegin = reader.padBegin(d, imageAxes(x, isLast)[d], imageAxes(y, isLast)[d]);
    const int64_t groups = readers::readGroups(request.node.attributes);
    return {windowLayout(x, y, windows, isLast), w[1] * groups, w[0], groups, activation.alpha, activation.beta};
  }
};

Ref<Placed> placeTransposed(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const TensorType& w = node.input(1)->type;
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  if (!isFloat(dtype) || !kernelType(dtype).element || activation.empty()) return nullptr;
  if (!w.ranked || w.rank() < 3 || w.rank() > 2 + kMostWindowAxes) return nullptr;
  return makeRef<PlacedTransposed>(sourceFor(node, activation));
}

constexpr PlaceRow kRows[] = {{"", "ConvTranspose", placeTransposed}, {kMaxDomain, "ConvTranspose", placeTransposed}};

}  // namespace

std::span<const PlaceRow> gpuTransposed() { return kRows; }

}  // namespace max
