// SPDX-License-Identifier: Apache-2.0
// MaxPool and AveragePool, channels as the graph has them: a thread for each element of the result.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/windows.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr int kMostAxes = 3;
constexpr int64_t kMostTaps = 4096;  // files may ask for any number, far beyond the images

constexpr const char* kPool = R"(
struct Layout {
  long long count, pixels, channels, rank;
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], padEnd[3];
  long long xBatch, xPixel, xChannel;
};

extern "C" __global__ void gpu_pool(const Layout layout, const Element* x, Element* y) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < layout.count; i += step) {
    const long long channel = CHANNELS_LAST ? i % layout.channels : i / layout.pixels % layout.channels;
    const long long pixel = CHANNELS_LAST ? i / layout.channels % layout.pixels : i % layout.pixels;
    const long long image = i / layout.channels / layout.pixels;
    long long begin[3] = {0, 0, 0}, rest = pixel, taps = 1;
    for (int d = (int)layout.rank - 1; d >= 0; --d) {
      begin[d] = rest % layout.out[d] * layout.stride[d] - layout.pad[d];
      rest /= layout.out[d];
      taps *= layout.kernel[d];
    }
    const Element* from = x + image * layout.xBatch + channel * layout.xChannel;
    Sum result = IS_MAXIMUM ? -(Sum)INFINITY : (Sum)0;
    long long seen = 0;  // pixels that count
    for (long long tap = 0; tap < taps; ++tap) {
      long long at = 0, size = 1, left = tap;
      bool isInside = true, isPadded = true;
      for (int d = (int)layout.rank - 1; d >= 0; --d) {
        const long long place = begin[d] + left % layout.kernel[d] * layout.dilation[d];
        left /= layout.kernel[d];
        isInside = isInside && place >= 0 && place < layout.in[d];
        isPadded = isPadded && place < layout.in[d] + layout.padEnd[d];
        at += place * size;
        size *= layout.in[d];
      }
      seen += INCLUDES_PADS ? isPadded : isInside;
      if (!isInside) continue;
      const Sum value = (Sum)from[at * layout.xPixel];
      if (IS_MAXIMUM)
        result = value > result || value != value ? value : result;
      else
        result += value;
    }
    y[i] = (Element)(IS_MAXIMUM ? result : seen > 0 ? result / (Sum)seen : (Sum)0);
  }
}
)";

struct PoolLayout {
  int64_t count = 0, pixels = 1, channels = 0, rank = 0;
  int64_t in[kMostAxes] = {}, out[kMostAxes] = {}, kernel[kMostAxes] = {}, stride[kMostAxes] = {},
          dilation[kMostAxes] = {}, pad[kMostAxes] = {}, padEnd[kMostAxes] = {};
  int64_t xBatch = 0, xPixel = 0, xChannel = 0;
};

bool isChannelsLast(const Node& node) { return node.domain() == kMaxDomain; }

std::string sourceFor(const Node& node, const readers::Pool& pool) {
  const KernelType type = kernelType(node.input(0)->type.dtype);
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  return concat("#include \"max_half.h\"\n#include <cmath>\ntypedef ", type.element, " Element;\ntypedef ",
                type.accumulator, " Sum;\n#define CHANNELS_LAST ", flag(isChannelsLast(node)), "\n#define IS_MAXIMUM ",
                flag(node.op() == "MaxPool"), "\n#define INCLUDES_PADS ", flag(pool.includesPads), "\n", kPool);
}

class PlacedPool final : public Placed {
 public:
  PlacedPool(const Node& node, const readers::Pool& pool) : Placed(sourceFor(node, pool), "gpu_pool") {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    auto op = std::make_unique<LaunchOp>(*this);
    op->addFirst(layoutOf(request));
    op->addInput(0);
    op->addOutput(0);
    op->coverElements(request.outputs[0].shape.count());
    return op;
  }

 private:
  static PoolLayout layoutOf(const OpRequest& request) {
    const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
    const bool isLast = isChannelsLast(request.node);
    const size_t rank = static_cast<size_t>(x.rank() - 2), first = isLast ? 1 : 2;
    const auto in = x.dims().subspan(first, rank), out = y.dims().subspan(first, rank);
    const std::vector<readers::Window> windows = readers::Pool(request.node.attributes, rank).windows.between(in, out);
    PoolLayout layout;
    layout.count = y.count();
    layout.channels = isLast ? x.back() : x[1];
    layout.rank = static_cast<int64_t>(rank);
    int64_t pixels = 1;
    for (size_t d = 0; d < rank; ++d) {
      layout.in[d] = in[d];
      layout.out[d] = out[d];
      layout.kernel[d] = windows[d].size;
      layout.stride[d] = windows[d].stride;
      layout.dilation[d] = windows[d].dilation;
      layout.pad[d] = windows[d].padBegin;
      layout.padEnd[d] = windows[d].padEnd;
      layout.pixels *= out[d];
      pixels *= in[d];
    }
    layout.xBatch = layout.channels * pixels;
    layout.xPixel = isLast ? layout.channels : 1;
    layout.xChannel = isLast ? 1 : pixels;
    return layout;
  }
};

Ref<Placed> placePool(const Node& node) {
  const TensorType& x = node.input(0)->type;
  if (!x.ranked || x.rank() < 3 || x.rank() > 2 + kMostAxes || !isFloat(x.dtype) || !kernelType(x.dtype).element)
    return nullptr;
  if (!node.output(0) || node.output(1)) return nullptr;  // indices
  const readers::Pool pool(node.attributes, static_cast<size_t>(x.rank() - 2));
  return pool.windows.taps() > kMostTaps ? nullptr : makeRef<PlacedPool>(node, pool);
}

constexpr PlaceRow kRows[] = {{"", "MaxPool", placePool},
                              {"", "AveragePool", placePool},
                              {kMaxDomain, "MaxPool", placePool},
                              {kMaxDomain, "AveragePool", placePool}};

}  // namespace

std::span<const PlaceRow> gpuPools() { return kRows; }

}  // namespace max
