// SPDX-License-Identifier: Apache-2.0
// A pointwise convolution and a Resize are both linear, and change places where the Resize makes images larger: the
// convolution has less work before it. Where it reads several parts joined along the channels, each such part has a
// convolution of its own, the others share one, and the result is their sum.
#include "graph/readers/resize.h"

#include <algorithm>
#include <numeric>

#include "compiler/passes.h"
#include "graph/readers/normalization.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

constexpr double kLeastGrowth = 2;        // pixels of the result for each of the input
constexpr int64_t kLeastChannels = 16;    // with fewer, a pixel is resized no faster than convolved
constexpr int64_t kMostFiltersRatio = 2;  // filters for each channel: they are resized in place of the channels

bool isPointwise(const Node& conv) {
  const Value *weights = conv.input(1), *bias = conv.input(2);
  const auto isKnown = [](const Value* value) { return value->constant && value->type.dtype == DType::Float32; };
  if (!weights || !isKnown(weights) || (bias && !isKnown(bias)) || !isRanked(conv.output())) return false;
  const Shape& shape = weights->constant->shape();
  return shape.rank() >= 3 && readers::isPointwise(conv.attributes, shape);
}

// Scales or sizes of the axes behind the channels; NULL if they are not known or if other axes change, too.
Value* spatialPart(Rewriter& rewriter, const Value* numbers, size_t rank) {
  if (!numbers || !numbers->constant || numbers->constant->shape().rank() != 1) return nullptr;
  const Tensor& all = *numbers->constant;
  const auto count = static_cast<int64_t>(rank) - 2;
  const int64_t skipped = all.count() - count;
  if (skipped < 0) return nullptr;
  const auto* from = static_cast<const std::byte*>(all.data()) + skipped * static_cast<int64_t>(sizeOf(all.dtype()));
  return rewriter.constant(Tensor::copyOf(all.dtype(), {count}, from));
}

// Pixels of the result for each of the input; 0 if not known.
double growthOf(const Node& resize) {
  const SymbolicShape &from = resize.input(0)->type.dims, &to = resize.output()->type.dims;
  const Value* scales = resize.input(2);
  double growth = 1;
  if (scales && scales->constant && scales->constant->count() > 0) {
    for (int64_t i = 0; i < scales->constant->count(); ++i) growth *= elementOf(*scales->constant, i);
    return growth;
  }
  for (size_t axis = 2; axis < to.size(); ++axis) {
    if (!from[axis].isKnown() || !to[axis].isKnown() || from[axis].is(0)) return 0;
    growth *= static_cast<double>(to[axis].value()) / static_cast<double>(from[axis].value());
  }
  return growth;
}

// A Resize, read here alone, of which each pixel is a weighted mean of some of the input's; NULL if there is none.
Node* enlargement(const Value* value, int64_t filters) {
  Node* resize = hasSingleUse(value) ? producer(value, "Resize") : nullptr;
  if (!resize || !isRanked(value) || !isRanked(resize->input(0)) || value->type.dtype != DType::Float32) return nullptr;
  const SymbolicShape &from = resize->input(0)->type.dims, &to = value->type.dims;
  if (to.size() < 3 || !(from[0] == to[0]) || !(from[1] == to[1]) || !to[1].isKnown()) return nullptr;
  const readers::Resize reader(resize->attributes, rankOf(value));
  std::vector<int> spatial(to.size() - 2), all(to.size());
  std::iota(spatial.begin(), spatial.end(), 2);
  std::iota(all.begin(), all.end(), 0);
  if (reader.crops() || reader.policy != readers::AspectPolicy::Stretch ||
      (reader.axes != spatial && reader.axes != all))
    return nullptr;
  const int64_t channels = to[1].value();
  if (channels < kLeastChannels || filters > kMostFiltersRatio * channels) return nullptr;
  return growthOf(*resize) >= kLeastGrowth ? resize : nullptr;
}

// The same Resize of another image.
Value* resized(Rewriter& rewriter, const Node& resize, Value* image) {
  const auto rank = static_cast<size_t>(rankOf(image));
  std::vector<Value*> inputs{image, nullptr};
  for (const size_t i : {size_t{2}, size_t{3}}) {
    const Value* numbers = resize.input(i);
    if (!numbers || (numbers->constant && numbers->constant->count() == 0)) {
      inputs.push_back(nullptr);
      continue;
    }
    inputs.push_back(spatialPart(rewriter, numbers, rank));
    if (!inputs.back()) return nullptr;
  }
  std::vector<int64_t> axes(rank - 2);
  std::iota(axes.begin(), axes.end(), 2);
  Attributes attributes = resize.attributes;
  attributes.set("axes", axes);
  return rewriter.add("", "Resize", std::move(inputs), std::move(attributes), {&resize})->output();
}

// What one convolution reads: parts along the channels, and where each begins.
struct Group {
  const Node* resize = nullptr;  // that comes after it
  std::vector<Value*> parts;
  std::vector<int64_t> begins;
};

// Filters of the group's channels alone.
Value* filtersOf(Rewriter& rewriter, const Tensor& weights, const Group& group) {
  const int64_t filters = weights.shape()[0], channels = weights.shape()[1];
  std::vector<float> values;
  const Ref<Tensor> aligned = weights.aligned();
  for (int64_t row = 0; row < filters; ++row)
    for (size_t i = 0; i < group.parts.size(); ++i) {
      const float* from = aligned->as<float>() + row * channels + group.begins[i];
      values.insert(values.end(), from, from + group.parts[i]->type.dims[1].value());
    }
  Shape shape = weights.shape();
  shape[1] = static_cast<int64_t>(values.size()) / filters;
  return rewriter.constant(Tensor::copyOf(DType::Float32, shape, values.data()));
}

// Parts that a Resize makes larger have groups of their own; those of the others is first.
std::vector<Group> groupsOf(std::span<Value* const> parts, int64_t filters) {
  std::vector<Group> groups(1);
  int64_t begin = 0;
  for (Value* part : parts) {
    if (!isRanked(part) || rankOf(part) < 3 || !part->type.dims[1].isKnown()) return {};
    const Node* resize = enlargement(part, filters);
    if (resize)
      groups.push_back({resize, {resize->input(0)}, {begin}});
    else
      groups[0].parts.push_back(part), groups[0].begins.push_back(begin);
    begin += part->type.dims[1].value();
  }
  if (groups[0].parts.empty()) groups.erase(groups.begin());
  return groups;
}

// The parts that are joined along the channels for `conv` alone; else its input.
std::vector<Value*> partsOf(const Node& conv) {
  const Node* concat = producer(conv.input(0), "Concat");
  const int rank = rankOf(conv.output());
  if (concat && hasSingleUse(conv.input(0)) && readers::readAxis(concat->attributes, 0, rank) == 1)
    return concat->inputs;
  return {conv.input(0)};
}

bool convolveFirst(Rewriter& rewriter, Node& node) {
  if (!isPointwise(node)) return false;
  const Tensor& weights = *node.input(1)->constant;
  const int64_t filters = weights.shape()[0];
  const std::vector<Group> groups = filters ? groupsOf(partsOf(node), filters) : std::vector<Group>();
  if (std::none_of(groups.begin(), groups.end(), [](const Group& group) { return group.resize; })) return false;
  if (groups.size() > 1 && !rewriter.options().budget->tryTakeFolded(weights.bytes())) return false;
  Value* sum = nullptr;
  for (const Group& group : groups) {
    Value* image = group.parts[0];
    if (group.parts.size() > 1) {
      Attributes attributes;
      attributes.set("axis", int64_t{1});
      image = rewriter.add("", "Concat", group.parts, std::move(attributes), {&node})->output();
    }
    std::vector<Value*> inputs{image, groups.size() > 1 ? filtersOf(rewriter, weights, group) : node.input(1)};
    if (!sum && node.input(2)) inputs.push_back(node.input(2));
    Value* result = rewriter.add("", "Conv", std::move(inputs), node.attributes, {&node})->output();
    if (group.resize) result = resized(rewriter, *group.resize, result);
    if (!result || !sameType(result, node.output())) return false;
    sum = sum ? rewriter.add("", "Add", {sum, result}, {}, {&node})->output() : result;
  }
  return rewriter.replace(&node, sum);
}

constexpr Rule kRules[] = {{"", "Conv", convolveFirst}};

}  // namespace

void convolveBeforeResize(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
