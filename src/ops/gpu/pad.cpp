// SPDX-License-Identifier: Apache-2.0
// Pad in all its modes: a thread for each element.
#include "base/error.h"
#include "graph/readers/movement.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr const char* kPad = R"(
struct Layout {
  long long count, rank, dims[16], sizes[16], before[16], strides[16];  // of the result, of the input
};

// Where index i of the endlessly padded axis comes from; -1 = the value.
static inline __device__ long long sourceOf(long long i, long long size) {
  if (i >= 0 && i < size) return i;
  if (MODE == 0 || size == 0) return -1;
  if (MODE == 1) return i < 0 ? 0 : size - 1;
  const long long period = MODE == 3 ? size : 2 * (size - 1);
  if (period == 0) return 0;
  const long long phase = (i % period + period) % period;
  return phase < size ? phase : period - phase;
}

extern "C" __global__ void gpu_pad(const Layout layout, const Element* in VALUE, Element* out) {
  EACH(i, layout.count) {
    long long from = 0, rest = i;
    bool isFilled = false;
    for (long long d = layout.rank - 1; d >= 0; --d) {
      const long long place = sourceOf(rest % layout.dims[d] - layout.before[d], layout.sizes[d]);
      rest /= layout.dims[d];
      isFilled = isFilled || place < 0;
      from += place * layout.strides[d];
    }
    out[i] = isFilled ? FILL : in[from];
  }
}
)";

struct PadLayout {
  int64_t count = 0, rank = 0;
  int64_t dims[kMaxRank] = {}, sizes[kMaxRank] = {}, before[kMaxRank] = {}, strides[kMaxRank] = {};
};

std::string sourceFor(const Node& node) {
  const bool hasValue = node.input(2) != nullptr;
  return concat(movedSource(node.input(0)->type.dtype), "#define MODE ",
                static_cast<int>(readers::readPadMode(node.attributes)), "\n",
                filledIn(kPad, {{"VALUE", hasValue ? ", const Element* value" : ""},
                                {"FILL", hasValue ? "value[0]" : "Element()"}}));
}

std::unique_ptr<OpKernel> createPad(const Placed& placed, const OpRequest& request) {
  const Shape &in = request.inputs[0].shape, &out = request.outputs[0].shape;
  const std::optional<readers::Padding> padding = readers::readPadding(*RequestInputs(request));
  require(padding.has_value(), MAX_STATUS_INTERNAL, request.node.description(), ": its pads are unknown");
  const Shape dense = contiguousStrides(in);
  PadLayout layout;
  layout.count = out.count();
  layout.rank = out.rank();
  for (int i = 0; i < out.rank(); ++i) {
    layout.dims[i] = out[i];
    layout.sizes[i] = in[i];
    layout.before[i] = padding->before[static_cast<size_t>(i)].value();
    layout.strides[i] = dense[i];
  }
  auto op = launchOf(placed, request);
  op->addFirst(layout);
  op->coverElements(layout.count);
  return op;
}

Ref<Placed> placePad(const Node& node) {
  if (!isMovable(node.input(0)->type.dtype) || !isKnownToPlan(node, 1) || !isKnownToPlan(node, 3)) return nullptr;
  return placedAs(sourceFor(node), {"gpu_pad"}, createPad, 0b101);
}

constexpr PlaceRow kRows[] = {{"", "Pad", placePad}};

}  // namespace

std::span<const PlaceRow> gpuPad() { return kRows; }

}  // namespace max
