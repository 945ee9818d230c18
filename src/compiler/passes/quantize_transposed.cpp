// SPDX-License-Identifier: Apache-2.0
// A ConvTranspose between DequantizeLinear and QuantizeLinear becomes a Conv, which has integer kernels. Pixels of the
// output that are a stride apart read neighbours of the input by the same taps: each such phase makes filters of its
// own, whose bytes are then moved to where its pixels are.
#include <cstring>
#include <numeric>

#include "compiler/passes/quantized.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

// Along one axis: output pixel `place * stride + phase` reads input pixel `place + offset` by a tap.
struct PhasedAxis {
  int64_t taps, stride, cropped;

  struct Tap {
    int64_t phase, offset;
  };
  Tap at(int64_t tap) const {
    const int64_t shift = tap - cropped, offset = -(shift >= 0 ? shift / stride : -((stride - 1 - shift) / stride));
    return {shift + offset * stride, offset};
  }
  // Of the Conv's kernel.
  int64_t first() const { return at(taps - 1).offset; }
  int64_t last() const { return at(0).offset; }
  int64_t width() const { return last() - first() + 1; }
};

// The axes of a ConvTranspose whose output is `stride` times as large as its input; empty if it is another one.
std::vector<PhasedAxis> phasedAxes(const Node& node, const Shape& weights) {
  constexpr int64_t kMostTimes = 4;  // as many products, of which some are with zeros
  const readers::Transposed reader(node.attributes, weights.dims().subspan(2));
  if (readers::readGroups(node.attributes) != 1 || reader.windows.isSame() || !reader.shape.empty()) return {};
  std::vector<PhasedAxis> axes;
  double times = 1;
  for (size_t i = 0; i < reader.windows.axes.size(); ++i) {
    const readers::Window& window = reader.windows.axes[i];
    const PhasedAxis axis{window.size, window.stride, window.padBegin};
    if (window.dilation != 1 || window.size + reader.extra[i] - window.padBegin - window.padEnd != window.stride)
      return {};
    if (axis.first() > 0) return {};
    times *= static_cast<double>(axis.width() * axis.stride) / static_cast<double>(axis.taps);
    axes.push_back(axis);
  }
  return times <= kMostTimes ? axes : std::vector<PhasedAxis>();
}

template <int64_t (*kSize)(const PhasedAxis&)>
int64_t productOf(const std::vector<PhasedAxis>& axes) {
  return std::accumulate(axes.begin(), axes.end(), int64_t{1},
                         [](int64_t product, const PhasedAxis& axis) { return product * kSize(axis); });
}
int64_t strideOf(const PhasedAxis& axis) { return axis.stride; }
int64_t widthOf(const PhasedAxis& axis) { return axis.width(); }

// The elements of a vector of whole bytes, again for each phase.
Value* repeated(Rewriter& rewriter, const Value* value, int64_t times) {
  const Tensor& tensor = *value->constant;
  Ref<Tensor> result = Tensor::allocate(tensor.dtype(), {times * tensor.count()});
  for (int64_t i = 0; i < times; ++i)
    std::memcpy(static_cast<std::byte*>(result->mutableData()) + static_cast<size_t>(i) * tensor.bytes(), tensor.data(),
                tensor.bytes());
  return rewriter.constant(std::move(result));
}

// A scale or zero point; a single one serves all filters.
Value* repeatedParameter(Rewriter& rewriter, Value* value, int64_t times) {
  return value->constant->count() == 1 ? value : repeated(rewriter, value, times);
}

// [channels, filters, taps..] to [phases * filters, channels, taps of the Conv..]; taps that a phase lacks mean zero.
Ref<Tensor> phasedFilters(const Tensor& weights, const Tensor& zeros, const std::vector<PhasedAxis>& axes) {
  const int64_t channels = weights.shape()[0], filters = weights.shape()[1];
  const int64_t taps = weights.shape().product(2, weights.shape().rank());
  const int64_t phases = productOf<strideOf>(axes), width = productOf<widthOf>(axes);
  Shape shape{phases * filters, channels};
  for (const PhasedAxis& axis : axes) shape.push(axis.width());
  Ref<Tensor> result = Tensor::allocate(weights.dtype(), shape);
  auto* to = static_cast<uint8_t*>(result->mutableData());
  for (int64_t i = 0; i < phases * filters; ++i) {
    const double zero = elementOf(zeros, zeros.count() == 1 ? 0 : i % filters);
    std::memset(to + i * channels * width, static_cast<int>(zero), static_cast<size_t>(channels * width));
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t phase = 0, place = 0, rest = tap, inner = taps;
    for (const PhasedAxis& axis : axes) {
      inner /= axis.taps;
      const PhasedAxis::Tap at = axis.at(rest / inner);
      rest %= inner;
      phase = phase * axis.stride + at.phase;
      place = place * axis.width() + at.offset - axis.first();
    }
    const auto* from = weights.as<uint8_t>() + tap;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t filter = 0; filter < filters; ++filter, from += taps)
        to[((phase * filters + filter) * channels + c) * width + place] = *from;
  }
  return result;
}

// [N, phases * filters, in..] to [N, filters, out..], by way of channels last.
struct Interleaving {
  std::vector<int64_t> toLast{0}, interleaved{0};
  SymbolicShape from, split, joined;

  // The shapes of the input and of the result.
  Interleaving(const SymbolicShape& in, const SymbolicShape& out, const std::vector<PhasedAxis>& axes)
      : from{in[0], Dim(productOf<strideOf>(axes)) * out[1]}, split{in[0]}, joined{out[0]} {
    const auto count = static_cast<int64_t>(axes.size());
    for (int64_t i = 0; i < count; ++i) {
      toLast.push_back(2 + i);
      interleaved.insert(interleaved.end(), {1 + i, 1 + count + i});
      const Dim& size = in[static_cast<size_t>(2 + i)];
      from.push_back(size);
      split.push_back(size);
      joined.push_back(out[static_cast<size_t>(2 + i)]);
    }
    toLast.push_back(1);
    interleaved.push_back(1 + 2 * count);
    for (const PhasedAxis& axis : axes) split.emplace_back(axis.stride);
    split.push_back(out[1]);
    joined.push_back(out[1]);
  }
  // Whether views can have the shapes.
  bool isPossible() const {
    return reshapeTarget(permuted(from, toLast), split) && reshapeTarget(permuted(split, interleaved), joined);
  }
  Value* add(Rewriter& rewriter, Value* value, const Node* origin) const {
    Value* result = rewriter.reshape(rewriter.transpose(value, toLast, origin), split, origin);
    if (result) result = rewriter.reshape(rewriter.transpose(result, interleaved, origin), joined, origin);
    return result ? rewriter.transpose(result, inverse(toLast), origin) : nullptr;
  }

 private:
  static SymbolicShape permuted(const SymbolicShape& shape, const std::vector<int64_t>& perm) {
    SymbolicShape result;
    for (const int64_t axis : perm) result.push_back(shape[static_cast<size_t>(axis)]);
    return result;
  }
};

Attributes paddedAttributes(const std::vector<PhasedAxis>& axes) {
  std::vector<int64_t> pads;
  for (const PhasedAxis& axis : axes) pads.push_back(-axis.first());
  for (const PhasedAxis& axis : axes) pads.push_back(axis.last());
  Attributes attributes;
  attributes.set("pads", std::move(pads));
  return attributes;
}

}  // namespace

// All is checked before the filters are made, which may be large.
bool splitTransposedConv(Rewriter& rewriter, Node& quantize) {
  auto product = quantizedProduct(rewriter, quantize, "ConvTranspose", 1);
  if (!product || !isRanked(product->x.value) || !isRanked(quantize.output())) return false;
  QuantizedWeights& w = product->w;
  const std::vector<PhasedAxis> axes = phasedAxes(*product->node, w.values->shape());
  const SymbolicShape &in = product->x.value->type.dims, &out = quantize.output()->type.dims;
  if (axes.empty() || in.size() != axes.size() + 2 || out.size() != in.size() || !out[1].is(w.filters)) return false;
  const Interleaving places(in, out, axes);
  if (!places.isPossible()) return false;
  const int64_t phases = productOf<strideOf>(axes), width = productOf<widthOf>(axes);
  const auto bytes = static_cast<size_t>(phases * width * w.values->shape()[0] * w.filters);
  if (!rewriter.options().budget->tryTakeFolded(bytes)) return false;
  w.values = phasedFilters(*w.values, *w.zero->constant, axes);
  w.scale = repeatedParameter(rewriter, w.scale, phases);
  w.zero = repeatedParameter(rewriter, w.zero, phases);
  if (product->bias) product->bias = repeated(rewriter, product->bias, phases);
  Value* conv = integerConv(rewriter, *product, paddedAttributes(axes), quantize);
  Value* result = conv;
  if (conv->type.dims == places.from) {
    result = places.add(rewriter, conv, &quantize);
    if (!result) return false;  // and nothing is left of it
    if (sameType(result, quantize.output())) return rewriter.replace(&quantize, result);
  }
  rewriter.retire(result->producer);
  return false;
}

}  // namespace max
