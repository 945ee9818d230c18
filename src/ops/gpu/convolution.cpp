// SPDX-License-Identifier: Apache-2.0
// Conv and max.Conv, channels as the graph has them: a thread for each element of the result.
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

constexpr const char* kConvolution = R"(
struct Layout {
  long long count, pixels, filters, channels, groups, rank;  // channels of a group
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  long long xBatch, xPixel, xChannel;
  float activationAlpha, activationBeta;
};

extern "C" __global__ void gpu_conv(const Layout layout, const Element* x, const Element* w ADDENDS, Element* y) {
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
    const Element* from = x + image * layout.xBatch + group * layout.channels * layout.xChannel;
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

std::string sourceFor(const Node& node, const KernelType& type, const std::string& activation) {
  std::string addends, finish, text = kConvolution;
  if (node.input(2)) {
    addends += ", const Element* bias";
    finish += "sum += (Sum)bias[filter];\n";
  }
  if (node.input(3)) {
    addends += ", const Element* residual";
    finish += "sum += (Sum)residual[i];\n";
  }
  text.replace(text.find("ADDENDS"), 7, addends).replace(text.find("FINISH"), 6, finish);
  return concat(kernelFunctions(), activation, "#define CHANNELS_LAST ", node.isOwn("Conv") ? "true" : "false",
                "\ntypedef ", type.element, " Element;\ntypedef ", type.accumulator, " Sum;\n", text);
}

class PlacedConvolution final : public Placed {
 public:
  explicit PlacedConvolution(std::string source) : Placed(std::move(source), "gpu_conv") {}

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
  static ConvolutionLayout layoutOf(const OpRequest& request) {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
    const bool isLast = request.node.isOwn("Conv");
    const size_t rank = static_cast<size_t>(x.rank() - 2), first = isLast ? 1 : 2;
    const auto in = x.dims().subspan(first, rank), out = y.dims().subspan(first, rank), sizes = w.dims().subspan(2);
    const readers::FusedActivation activation(request.node.attributes);
    const std::vector<readers::Window> windows = readers::readWindows(request.node.attributes, sizes).between(in, out);
    ConvolutionLayout layout;
    layout.count = y.count();
    layout.filters = w[0];
    layout.channels = w[1];
    layout.groups = readers::readGroups(request.node.attributes);
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
};

Ref<Placed> placeConvolution(const Node& node) {
  const Value *x = node.input(0), *w = node.input(1);
  const KernelType type = kernelType(x->type.dtype);
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  if (!isFloat(x->type.dtype) || !type.element || activation.empty() || !w || !w->type.ranked) return nullptr;
  if (w->type.rank() < 3 || w->type.rank() > 2 + kMostAxes) return nullptr;
  return makeRef<PlacedConvolution>(sourceFor(node, type, activation));
}

constexpr PlaceRow kRows[] = {{"", "Conv", placeConvolution}, {kMaxDomain, "Conv", placeConvolution}};

}  // namespace

std::span<const PlaceRow> gpuConvolutions() { return kRows; }

}  // namespace max
