// SPDX-License-Identifier: Apache-2.0
// A ConvTranspose between DequantizeLinear and QuantizeLinear becomes a Conv, which has integer kernels. Pixels of the
// output that are a stride apart read neighbours of the input by the same taps: each such phase makes filters of its
// own, whose bytes are then moved to where its pixels are.
#include <cstring>
#include <numeric>

#include "compiler/passes/quantized.h"
#include "graph/readers/quantization.h"
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

// The elements of a vector again for each phase; a single one, and none, serve all.
Ref<Tensor> repeated(const Tensor& tensor, int64_t times) {
  Ref<Tensor> result = Tensor::allocate(tensor.dtype(), {times * tensor.count()});
  for (int64_t i = 0; i < times; ++i)
    std::memcpy(static_cast<std::byte*>(result->mutableData()) + static_cast<size_t>(i) * tensor.bytes(), tensor.data(),
                tensor.bytes());
  return result;
}
Value* repeated(Rewriter& rewriter, Value* value, int64_t times) {
  return !value || value->constant->count() == 1 ? value : rewriter.constant(repeated(*value->constant, times));
}

// [channels, filters, taps..] to [phases * filters, channels, taps of the Conv..]; taps that a phase lacks mean zero.
Ref<Tensor> phasedFilters(const Tensor& weights, const Tensor* zeros, const std::vector<PhasedAxis>& axes) {
  const int64_t channels = weights.shape()[0], filters = weights.shape()[1];
  const int64_t taps = weights.shape().product(2, weights.shape().rank());
  const int64_t phases = productOf<strideOf>(axes), width = productOf<widthOf>(axes);
  Shape shape{phases * filters, channels};
  for (const PhasedAxis& axis : axes) shape.push(axis.width());
  Ref<Tensor> result = Tensor::allocate(weights.dtype(), shape);
  auto* to = static_cast<uint8_t*>(result->mutableData());
  for (int64_t i = 0; i < phases * filters; ++i) {
    const int64_t zero = zeros ? static_cast<int64_t>(elementOf(*zeros, zeros->count() == 1 ? 0 : i % filters)) : 0;
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

// A DequantizeLinear of constants, with one scale and zero point or one for each element of an axis.
Node* dequantizedConstant(const Value* value, int axis) {
  Node* node = producer(value, "DequantizeLinear");
  if (!node || !node->input(0)->constant || node->input(0)->constant->count() == 0) return nullptr;
  const Shape& shape = node->input(0)->constant->shape();
  const readers::Quantization reader(node->attributes);
  for (const Value* each : {node->input(1), node->input(2)}) {
    if (!each) continue;
    if (!each->constant) return nullptr;
    const bool isVector =
        each->constant->shape().rank() == 1 && (shape.rank() == 1 || reader.axis(shape.rank()) == axis);
    if (each->constant->count() != 1 && !(isVector && axis < shape.rank() && each->constant->count() == shape[axis]))
      return nullptr;
  }
  return reader.block == 0 ? node : nullptr;
}

Value* dequantizedAgain(Rewriter& rewriter, const Node& node, Ref<Tensor> values, int64_t times) {
  Attributes attributes = node.attributes;
  attributes.set("axis", int64_t{0});
  return rewriter
      .add("", node.op(),
           {rewriter.constant(std::move(values)), repeated(rewriter, node.input(1), times),
            repeated(rewriter, node.input(2), times)},
           std::move(attributes), {&node})
      ->output();
}

// Known numbers of filters, which may be dequantised; NULL if they are not known.
Value* repeatedBias(Rewriter& rewriter, Value* bias, int64_t times) {
  if (bias->constant) return rewriter.constant(repeated(*bias->constant, times));
  const Node* node = dequantizedConstant(bias, 0);
  return node ? dequantizedAgain(rewriter, *node, repeated(*node->input(0)->constant, times), times) : nullptr;
}

// [N, phases * filters, in..] to [N, filters, out..]. `dims`: of the result.
Value* inPlace(Rewriter& rewriter, Value* value, const std::vector<PhasedAxis>& axes, const SymbolicShape& dims,
               const Node* origin) {
  const size_t count = axes.size();
  std::vector<int64_t> toLast(count + 2), interleaved{0};
  std::iota(toLast.begin() + 1, toLast.end(), 2);
  toLast.back() = 1;
  const SymbolicShape& from = value->type.dims;
  SymbolicShape split{from[0]}, joined{dims[0]};
  for (size_t i = 0; i < count; ++i) {
    split.push_back(from[i + 2]);
    joined.push_back(dims[i + 2]);
    interleaved.push_back(static_cast<int64_t>(1 + i));
    interleaved.push_back(static_cast<int64_t>(1 + count + i));
  }
  for (const PhasedAxis& axis : axes) split.emplace_back(axis.stride);
  split.push_back(dims[1]);
  joined.push_back(dims[1]);
  interleaved.push_back(static_cast<int64_t>(1 + 2 * count));
  Value* result = rewriter.reshape(rewriter.transpose(value, toLast, origin), split, origin);
  if (result) result = rewriter.reshape(rewriter.transpose(result, interleaved, origin), joined, origin);
  return result ? rewriter.transpose(result, inverse(toLast), origin) : nullptr;
}

}  // namespace

bool splitTransposedConv(Rewriter& rewriter, Node& quantize) {
  const auto clamped = clampedInput(quantize);
  const Node* node = clamped ? producer(clamped->value, "ConvTranspose") : nullptr;
  if (!node || !hasSingleUse(clamped->value) || !isRanked(node->input(0)) || !dequantized(node->input(0))) return false;
  const Node* weights = dequantizedConstant(node->input(1), 1);
  if (!weights || sizeOf(weights->input(0)->type.dtype) != 1) return false;
  const Tensor& values = *weights->input(0)->constant;
  const std::vector<PhasedAxis> axes = phasedAxes(*node, values.shape());
  if (axes.empty()) return false;
  const int64_t phases = productOf<strideOf>(axes);
  const Tensor* zeros = weights->input(2) ? weights->input(2)->constant.get() : nullptr;
  std::vector<Value*> inputs{node->input(0),
                             dequantizedAgain(rewriter, *weights, phasedFilters(values, zeros, axes), phases)};
  if (node->input(2)) inputs.push_back(repeatedBias(rewriter, node->input(2), phases));
  if (!inputs.back()) return false;
  std::vector<int64_t> pads;
  for (const PhasedAxis& axis : axes) pads.push_back(-axis.first());
  for (const PhasedAxis& axis : axes) pads.push_back(axis.last());
  Attributes attributes;
  attributes.set("pads", std::move(pads));
  Value* result = rewriter.add("", "Conv", std::move(inputs), std::move(attributes), {node})->output();
  if (const Node* clamp = clamped->clamp) {
    std::vector<Value*> bounds = clamp->inputs;
    bounds[0] = result;
    result = rewriter.add("", clamp->op(), std::move(bounds), clamp->attributes, {clamp})->output();
  }
  result =
      rewriter.add("", quantize.op(), {result, quantize.input(1), quantize.input(2)}, quantize.attributes, {&quantize})
          ->output();
  if (!isRanked(result) || !isRanked(quantize.output())) return false;
  result = inPlace(rewriter, result, axes, quantize.output()->type.dims, &quantize);
  return result && sameType(result, quantize.output()) && rewriter.replace(&quantize, result);
}

}  // namespace max
