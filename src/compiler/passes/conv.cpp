// SPDX-License-Identifier: Apache-2.0
// Folds scales, shifts and zero borders around convolutions into their weights, bias and pads; BatchNormalization is a
// scale and a shift. Convolutions of one input whose sum is wanted become one.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/scaled_storage.h"
#include "base/thread_pool.h"
#include "compiler/passes.h"
#include "graph/readers/movement.h"
#include "graph/readers/normalization.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

constexpr int64_t kScaleGrain = 64 << 10;  // elements

bool isFloat32(const Value* value) { return value && value->constant && value->constant->dtype() == DType::Float32; }

Ref<Tensor> tensorOf(const std::vector<float>& values, const Shape& shape) {
  return Tensor::copyOf(DType::Float32, shape, values.data());
}

// One number per channel of [N, C, ..]; nullopt if the constant varies otherwise.
std::optional<std::vector<float>> perChannel(const Value* value, const Value* output) {
  if (!isFloat32(value) || !isRanked(output) || rankOf(output) < 2) return std::nullopt;
  const Dim channels = output->type.dims[1];
  const Tensor& tensor = *value->constant;
  if (!channels.isKnown() || tensor.shape().rank() > rankOf(output)) return std::nullopt;
  const std::span<const float> values = tensor.values<float>();
  if (values.size() == 1) return std::vector<float>(static_cast<size_t>(channels.value()), values[0]);
  const int axis = 1 - (rankOf(output) - tensor.shape().rank());
  if (axis < 0 || !channels.is(tensor.shape()[axis]) || tensor.count() != channels.value()) return std::nullopt;
  return std::vector<float>(values.begin(), values.end());
}

// A convolution with constant weights whose result is only read by `node`.
Node* convBefore(const Node& node, const Value* value) {
  Node* conv = producer(value, "Conv");
  if (!conv || !hasSingleUse(value) || !isFloat32(conv->input(1))) return nullptr;
  // Weights without elements could claim any number of channels.
  if (conv->input(1)->constant->count() == 0) return nullptr;
  if (conv->input(2) && !isFloat32(conv->input(2))) return nullptr;
  return sameType(value, node.output()) ? conv : nullptr;
}

std::vector<float> biasOf(const Node& conv, size_t channels) {
  if (!conv.input(2)) return std::vector<float>(channels, 0.0f);
  const std::span<const float> values = conv.input(2)->constant->values<float>();
  return {values.begin(), values.end()};
}

void scale(const float* from, float factor, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] * factor;
}

Ref<Tensor> scaledWeights(const Rewriter& rewriter, const Tensor& weights, const std::vector<float>& factors) {
  const auto scaled = makeRef<ScaledStorage>(Ref<const Tensor>(&weights), factors);
  auto* to = static_cast<float*>(scaled->data());
  const Ref<Tensor> aligned = weights.aligned();
  const auto filters = static_cast<int64_t>(factors.size()), inner = filters ? weights.count() / filters : 0;
  const int64_t grain = std::max<int64_t>(1, kScaleGrain / std::max<int64_t>(inner, 1));
  parallelFor(rewriter.options().lanes, filters, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      scale(aligned->as<float>() + i * inner, factors[static_cast<size_t>(i)], inner, to + i * inner);
  });
  weights.dropPages();
  return makeRef<Tensor>(DType::Float32, weights.shape(), to, scaled);
}

// conv * scale + shift
bool foldAffine(Rewriter& rewriter, Node& node, Node& conv, const std::vector<float>& scale,
                const std::vector<float>& shift) {
  std::vector<float> bias = biasOf(conv, shift.size());
  if (bias.size() != shift.size() || conv.input(1)->constant->shape()[0] != static_cast<int64_t>(shift.size()))
    return false;
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = bias[i] * scale[i] + shift[i];
  const bool unscaled = std::all_of(scale.begin(), scale.end(), [](float factor) { return factor == 1; });
  Value* weights =
      unscaled ? conv.input(1) : rewriter.constant(scaledWeights(rewriter, *conv.input(1)->constant, scale));
  Value* biasValue = rewriter.constant(tensorOf(bias, {static_cast<int64_t>(bias.size())}));
  Node* folded = rewriter.add("", "Conv", {conv.input(0), weights, biasValue}, conv.attributes, {&node, &conv});
  return rewriter.replace(&node, folded->output());
}

struct Affine {
  std::vector<float> scale;
  std::vector<float> shift;
};

std::optional<Affine> affineOf(const Node& norm) {
  for (size_t i = 1; i <= 4; ++i)
    if (!isFloat32(norm.input(i))) return std::nullopt;
  const auto values = [&](size_t i) { return norm.input(i)->constant->values<float>(); };
  const std::span<const float> scale = values(1), bias = values(2), mean = values(3), variance = values(4);
  if (scale.size() != bias.size() || scale.size() != mean.size() || scale.size() != variance.size())
    return std::nullopt;
  const float epsilon = readers::BatchNorm(norm.attributes).epsilon;
  Affine result;
  for (size_t i = 0; i < scale.size(); ++i) {
    const double factor = scale[i] / std::sqrt(static_cast<double>(variance[i]) + epsilon);
    result.scale.push_back(static_cast<float>(factor));
    result.shift.push_back(static_cast<float>(bias[i] - mean[i] * factor));
  }
  return result;
}

bool foldBatchNorm(Rewriter& rewriter, Node& node) {
  if (readers::BatchNorm(node.attributes).isTraining || !isRanked(node.input(0)) || rankOf(node.input(0)) < 2)
    return false;
  const auto affine = affineOf(node);
  if (!affine || node.input(0)->type.dtype != DType::Float32) return false;
  if (Node* conv = convBefore(node, node.input(0)))
    if (foldAffine(rewriter, node, *conv, affine->scale, affine->shift)) return true;
  // [C, 1, ..] broadcasts along the channels.
  Shape shape = Shape::filled(rankOf(node.input(0)) - 1, 1);
  shape[0] = static_cast<int64_t>(affine->scale.size());
  Value* scale = rewriter.constant(tensorOf(affine->scale, shape));
  Value* shift = rewriter.constant(tensorOf(affine->shift, shape));
  Value* scaled = rewriter.add("", "Mul", {node.input(0), scale}, {}, {&node})->output();
  return rewriter.replace(node.output(), rewriter.add("", "Add", {scaled, shift}, {}, {&node})->output());
}

bool foldScale(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Node* conv = convBefore(node, node.input(side));
    auto scale = conv ? perChannel(node.input(1 - side), node.output()) : std::nullopt;
    if (!scale) continue;
    return foldAffine(rewriter, node, *conv, *scale, std::vector<float>(scale->size(), 0.0f));
  }
  return false;
}

bool foldShift(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Node* conv = convBefore(node, node.input(side));
    auto shift = conv ? perChannel(node.input(1 - side), node.output()) : std::nullopt;
    if (!shift) continue;
    return foldAffine(rewriter, node, *conv, std::vector<float>(shift->size(), 1.0f), *shift);
  }
  return false;
}

// Zero borders that a Pad adds to the spatial dimensions: begins, then ends; empty if it does anything else.
std::vector<int64_t> spatialPads(const Node& pad) {
  const auto pads = integersOf(pad.input(1));
  const size_t rank = isRanked(pad.input(0)) ? pad.input(0)->type.dims.size() : 0;
  if (!pads || pad.input(3) || rank < 3 || pads->size() != 2 * rank) return {};
  if (readers::readPadMode(pad.attributes) != readers::PadMode::Constant) return {};
  if (pad.input(2) && !isScalar(pad.input(2), 0)) return {};
  if (std::any_of(pads->begin(), pads->end(), [](int64_t size) { return size < 0; })) return {};
  for (size_t i : {size_t{0}, size_t{1}, rank, rank + 1})
    if ((*pads)[i] != 0) return {};
  std::vector<int64_t> result(pads->begin() + 2, pads->begin() + static_cast<ptrdiff_t>(rank));
  result.insert(result.end(), pads->begin() + static_cast<ptrdiff_t>(rank) + 2, pads->end());
  return result;
}

bool absorbPad(Rewriter& rewriter, Node& node) {
  Node* pad = producer(node.input(0), "Pad");
  const std::vector<int64_t> added = pad ? spatialPads(*pad) : std::vector<int64_t>();
  if (added.empty()) return false;
  const size_t count = added.size() / 2;
  const readers::Windows windows = readers::readWindows(node.attributes, std::vector<int64_t>(count, 1));
  if (windows.isSame()) return false;
  std::vector<int64_t> pads = added;
  for (size_t i = 0; i < count; ++i) {
    pads[i] = checkedAdd(pads[i], windows.axes[i].padBegin);
    pads[count + i] = checkedAdd(pads[count + i], windows.axes[i].padEnd);
  }
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = pad->input(0);
  Attributes attributes = node.attributes;
  attributes.erase("auto_pad");
  attributes.set("pads", pads);
  Node* conv = rewriter.add("", "Conv", std::move(inputs), std::move(attributes), {pad, &node});
  return sameType(conv->output(), node.output()) && rewriter.replace(&node, conv->output());
}

// conv(x * c) -> (c * conv)(x), for one number c
bool absorbInputScale(Rewriter& rewriter, Node& node) {
  Node* mul = producer(node.input(0), "Mul");
  const ScalarOperand operand = scalarOperand(mul);
  if (!operand || !isFloat32(node.input(1)) || !std::isfinite(operand.scalar)) return false;
  if (!sameType(operand.value, mul->output()) || node.input(1)->constant->count() == 0) return false;
  std::vector<float> scale(static_cast<size_t>(node.input(1)->constant->shape()[0]),
                           static_cast<float>(operand.scalar));
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = operand.value;
  inputs[1] = rewriter.constant(scaledWeights(rewriter, *node.input(1)->constant, scale));
  Node* conv = rewriter.add("", "Conv", std::move(inputs), node.attributes, {mul, &node});
  return rewriter.replace(&node, conv->output());
}

// For each tap of `inner` the index of the tap of `outer` that reads the same pixel; empty if one has none.
std::vector<int64_t> tapsWithin(const readers::Windows& outer, const readers::Windows& inner) {
  if (outer.isSame() || inner.isSame()) return {};
  std::vector<int64_t> taps{0};
  for (size_t axis = 0; axis < outer.axes.size(); ++axis) {
    const readers::Window &wide = outer.axes[axis], &narrow = inner.axes[axis];
    if (wide.stride != narrow.stride) return {};
    std::vector<int64_t> all;
    for (int64_t tap : taps)
      for (int64_t i = 0; i < narrow.size; ++i) {
        const int64_t pixel = wide.padBegin - narrow.padBegin + i * narrow.dilation;
        if (pixel < 0 || pixel % wide.dilation != 0 || pixel / wide.dilation >= wide.size) return {};
        all.push_back(tap * wide.size + pixel / wide.dilation);
      }
    taps = std::move(all);
  }
  return taps;
}

readers::Windows windowsOf(const Node& conv) {
  const Shape& shape = conv.input(1)->constant->shape();
  return readers::readWindows(conv.attributes, shape.dims().subspan(2));
}

// conv(x) + conv'(x), of which the second has no taps that the first lacks, as one convolution; NULL if there is none.
Value* sumOfConvs(Rewriter& rewriter, const Node& node, const Node& conv, const Node& other) {
  const Tensor &wide = *conv.input(1)->constant, &narrow = *other.input(1)->constant;
  const Shape &shape = wide.shape(), &shapeOfOther = narrow.shape();
  if (conv.input(0) != other.input(0) || shape.rank() < 3 || shape.rank() != shapeOfOther.rank()) return nullptr;
  if (shape[0] != shapeOfOther[0] || shape[1] != shapeOfOther[1]) return nullptr;
  if (readers::readGroups(conv.attributes) != readers::readGroups(other.attributes)) return nullptr;
  const std::vector<int64_t> taps = tapsWithin(windowsOf(conv), windowsOf(other));
  if (taps.empty() || !rewriter.options().budget->tryTakeFolded(wide.bytes())) return nullptr;
  Ref<Tensor> sum = Tensor::allocate(DType::Float32, shape);
  auto* to = static_cast<float*>(sum->mutableData());
  wide.copyTo(to);
  const Ref<Tensor> second = narrow.aligned();
  const float* from = second->as<float>();
  for (int64_t row = 0; row < shape[0] * shape[1]; ++row, to += shape.product(2, shape.rank()))
    for (const int64_t tap : taps) to[tap] += *from++;
  std::vector<float> bias = biasOf(conv, static_cast<size_t>(shape[0]));
  const std::vector<float> more = biasOf(other, bias.size());
  if (bias.size() != more.size()) return nullptr;
  std::transform(bias.begin(), bias.end(), more.begin(), bias.begin(), std::plus<>());
  Value* biasValue = rewriter.constant(tensorOf(bias, {shape[0]}));
  return rewriter
      .add("", "Conv", {conv.input(0), rewriter.constant(std::move(sum)), biasValue}, conv.attributes,
           {&node, &other, &conv})
      ->output();
}

bool joinConvs(Rewriter& rewriter, Node& node) {
  Node* convs[] = {convBefore(node, node.input(0)), convBefore(node, node.input(1))};
  for (size_t side : {0, 1}) {
    if (!convs[0] || !convs[1]) return false;
    Value* sum = sumOfConvs(rewriter, node, *convs[side], *convs[1 - side]);
    if (sum) return rewriter.replace(&node, sum);
  }
  return false;
}

// x * scale + shift of channels, by which training lets a convolution be skipped, as a convolution of one tap; NULL if
// `value` is something else that is not only read here.
Node* scaleAsConv(Rewriter& rewriter, const Value* value, const Node& conv) {
  Node* add = producer(value, "Add");
  if (!add || !hasSingleUse(value)) return nullptr;
  Node* mul = producer(add->input(0), "Mul");
  if (!mul || !hasSingleUse(mul->output()) || mul->input(0) != conv.input(0)) return nullptr;
  const auto scale = perChannel(mul->input(1), value), shift = perChannel(add->input(1), value);
  const Shape& shape = conv.input(1)->constant->shape();
  if (!scale || !shift || !sameType(mul->input(0), value) || shape.rank() < 3) return nullptr;
  const int64_t depth = shape[1], groups = readers::readGroups(conv.attributes);
  if (shape[0] != static_cast<int64_t>(scale->size()) || depth * groups != shape[0]) return nullptr;
  Shape one = Shape::filled(shape.rank(), 1);
  one[0] = shape[0];
  one[1] = depth;
  if (static_cast<size_t>(shape[0] * depth) > rewriter.options().budget->folded / sizeof(float)) return nullptr;
  std::vector<float> weights(static_cast<size_t>(shape[0] * depth));
  for (size_t i = 0; i < scale->size(); ++i)
    weights[i * static_cast<size_t>(depth) + i % static_cast<size_t>(depth)] = (*scale)[i];
  Value* bias = rewriter.constant(tensorOf(*shift, {shape[0]}));
  Attributes attributes;
  attributes.set("group", groups);
  return rewriter.add("", "Conv", {conv.input(0), rewriter.constant(tensorOf(weights, one)), bias},
                      std::move(attributes), {mul, add});
}

// conv(x) + (x * scale + shift)
bool joinScale(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Node* conv = convBefore(node, node.input(side));
    Node* scale = conv ? scaleAsConv(rewriter, node.input(1 - side), *conv) : nullptr;
    if (!scale) continue;
    Value* sum = sumOfConvs(rewriter, node, *conv, *scale);
    rewriter.retire(scale);
    if (sum) return rewriter.replace(&node, sum);
  }
  return false;
}

constexpr Rule kRules[] = {
    {"", "BatchNormalization", foldBatchNorm},
    {"", "Mul", foldScale},
    {"", "Add", foldShift},
    {"", "Add", joinConvs},
    {"", "Add", joinScale},
    {"", "Conv", absorbPad},
    {"", "Conv", absorbInputScale},
};

}  // namespace

void foldIntoConv(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
