// SPDX-License-Identifier: Apache-2.0
// A convolution of a few wide groups becomes a convolution for each, of a part of the channels: Winograd's method,
// which takes no groups, is about twice as fast. Parts of pixels are read and written in place. On the host.
#include <algorithm>

#include "compiler/passes.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

constexpr int64_t kMostGroups = 8;
constexpr int64_t kLeastChannels = 32;  // of a group, and filters
constexpr int64_t kLeastPixels = 144;   // of an image: small ones are products all the same

bool isWorthDividing(const Node& conv) {
  const Value* weights = conv.input(1);
  if (!weights->constant || weights->type.dtype != DType::Float32 || weights->constant->shape().rank() != 4)
    return false;
  const Shape& shape = weights->constant->shape();
  const int64_t groups = readers::readGroups(conv.attributes);
  if (groups < 2 || groups > kMostGroups || shape[1] < kLeastChannels || shape[0] < groups * kLeastChannels)
    return false;
  const readers::Windows windows = readers::readWindows(conv.attributes, shape.dims().subspan(2));
  return std::all_of(windows.axes.begin(), windows.axes.end(), [](const readers::Window& window) {
    return window.size == 3 && window.stride == 1 && window.dilation == 1;
  });
}

bool isSmall(const Value* image) {
  const Dim height = image->type.dims[1], width = image->type.dims[2];
  return height.isKnown() && width.isKnown() && height.value() * width.value() < kLeastPixels;
}

// Part `i` of `count` of a constant along its first axis.
Value* partOf(Rewriter& rewriter, const Value* value, int64_t i, int64_t count) {
  Shape shape = value->constant->shape();
  shape[0] /= count;
  const auto* from = static_cast<const std::byte*>(value->constant->data());
  const auto bytes = static_cast<int64_t>(value->constant->bytes()) / count;
  return rewriter.constant(Tensor::copyOf(value->type.dtype, shape, from + i * bytes));
}

// Parts of the channels, which come last.
const std::vector<Value*>& channelParts(Rewriter& rewriter, Value* pixels, int64_t count, const Node& origin) {
  Attributes axis;
  axis.set("axis", int64_t{rankOf(pixels) - 1});
  const std::vector<int64_t> sizes(static_cast<size_t>(count), pixels->type.dims.back().value() / count);
  return rewriter
      .add("", "Split", {pixels, rewriter.constant(sizes)}, std::move(axis), {&origin}, static_cast<size_t>(count))
      ->outputs;
}

bool divideGroups(Rewriter& rewriter, Node& node) {
  Value *bias = node.input(2), *residual = node.input(3);
  if (!isWorthDividing(node) || !isRanked(node.input(0)) || !isRanked(node.output()) || isSmall(node.output()) ||
      !node.input(0)->type.dims.back().isKnown() || (bias && !bias->constant))
    return false;
  if (!rewriter.options().budget->tryTakeFolded(node.input(1)->constant->bytes())) return false;
  const int64_t groups = readers::readGroups(node.attributes);
  const std::vector<Value*>& parts = channelParts(rewriter, node.input(0), groups, node);
  const std::vector<Value*> residuals =
      residual ? channelParts(rewriter, residual, groups, node) : std::vector<Value*>(static_cast<size_t>(groups));
  Attributes attributes = node.attributes, last;
  attributes.set("group", int64_t{1});
  last.set("axis", int64_t{rankOf(node.output()) - 1});
  std::vector<Value*> results;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = static_cast<int64_t>(i);
    Value* weights = partOf(rewriter, node.input(1), part, groups);
    std::vector<Value*> inputs{parts[i], weights, bias ? partOf(rewriter, bias, part, groups) : nullptr, residuals[i]};
    while (!inputs.back()) inputs.pop_back();
    results.push_back(rewriter.add(kMaxDomain, "Conv", std::move(inputs), attributes, {&node})->output());
  }
  return rewriter.replace(&node, rewriter.add("", "Concat", std::move(results), std::move(last), {&node})->output());
}

constexpr Rule kRules[] = {{kMaxDomain, "Conv", divideGroups}};

}  // namespace

void divideConvolutions(Rewriter& rewriter) {
  const CompileOptions& options = rewriter.options();
  if (!options.accelerator && options.hostPrecision() == MAX_PRECISION_HIGHEST) applyRules(rewriter, kRules);
}

}  // namespace max
