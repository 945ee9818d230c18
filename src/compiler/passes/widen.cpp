// SPDX-License-Identifier: Apache-2.0
// Convolutions on the host whose products have few columns, which leave most of a vector empty, get more of them: those
// of several neighbouring pixels or groups, with filters that are zero where one does not reach.
#include <algorithm>

#include "compiler/passes.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

constexpr int64_t kVector = 16;     // columns
constexpr int64_t kFewColumns = 8;  // leave half of a vector empty
constexpr int64_t kFewestChannels = 16;
constexpr double kLeastGain = 1.4;

// Filters [filter][channel][rows][width], where `rows` are those of all axes but the last.
struct Filters {
  int64_t count, channels, rows, width;

  explicit Filters(const Shape& shape)
      : count(shape[0]), channels(shape[1]), rows(shape.product(2, shape.rank() - 1)), width(shape[shape.rank() - 1]) {}
  int64_t perFilter() const { return channels * rows * width; }
};

// The same filters once for each of `pixels`, each a tap further to the right.
Ref<Tensor> forPixels(const Tensor& weights, int64_t pixels) {
  const Filters from(weights.shape());
  Shape shape = weights.shape();
  shape[0] *= pixels;
  shape[shape.rank() - 1] += pixels - 1;
  const Ref<Tensor> result = Tensor::allocate(DType::Float32, shape);
  auto* to = static_cast<float*>(result->mutableData());
  std::fill_n(to, shape.count(), 0.f);
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t row = 0; row < from.count * from.channels * from.rows; ++row, to += from.width + pixels - 1)
      std::copy_n(weights.as<float>() + row * from.width, from.width, to + pixel);
  return result;
}

// Filters of `joined` groups as those of one.
Ref<Tensor> forGroups(const Tensor& weights, int64_t groups, int64_t joined) {
  const Filters from(weights.shape());
  Shape shape = weights.shape();
  shape[1] *= joined;
  const Ref<Tensor> result = Tensor::allocate(DType::Float32, shape);
  auto* to = static_cast<float*>(result->mutableData());
  std::fill_n(to, shape.count(), 0.f);
  for (int64_t filter = 0; filter < from.count; ++filter, to += joined * from.perFilter()) {
    const int64_t place = filter / (from.count / groups) % joined;
    std::copy_n(weights.as<float>() + filter * from.perFilter(), from.perFilter(), to + place * from.perFilter());
  }
  return result;
}

Ref<Tensor> repeated(const Tensor& bias, int64_t times) {
  const Ref<Tensor> result = Tensor::allocate(DType::Float32, {bias.count() * times});
  for (int64_t i = 0; i < times; ++i)
    std::copy_n(bias.as<float>(), bias.count(), static_cast<float*>(result->mutableData()) + i * bias.count());
  return result;
}

int64_t largestDivisor(int64_t number, int64_t most) {
  while (most > 1 && number % most != 0) --most;
  return most;
}

// How many pixels of a row to compute at once; 1 = as before.
int64_t pixelsAtOnce(const Node& node, const Shape& weights) {
  const readers::Window last = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes.back();
  const Dim& width = node.output()->type.dims[static_cast<size_t>(weights.rank()) - 2];
  if (weights[1] < kFewestChannels || last.stride != 1 || last.dilation != 1 || !width.isKnown()) return 1;
  const int64_t pixels = largestDivisor(width.value(), kVector / weights[0]);
  const double gain = static_cast<double>(pixels * last.size) / static_cast<double>(last.size + pixels - 1);
  return gain >= kLeastGain ? pixels : 1;
}

bool isFloatConstant(const Value* value) {
  return value && value->constant && value->constant->dtype() == DType::Float32 && value->constant->hasContents();
}

void computePixels(Rewriter& rewriter, Node& node, int64_t pixels) {
  SymbolicShape dims = node.output()->type.dims;
  const size_t last = dims.size() - 2;
  const Shape& shape = node.inputs[1]->constant->shape();
  dims[last] = Dim(dims[last].value() / pixels);
  dims[last + 1] = Dim(shape[0] * pixels);
  std::vector<Value*> inputs = node.inputs;
  inputs[1] = rewriter.constant(forPixels(*node.inputs[1]->constant, pixels));
  if (node.input(2)) inputs[2] = rewriter.constant(repeated(*node.inputs[2]->constant, pixels));
  if (node.input(3)) inputs[3] = rewriter.reshape(node.inputs[3], dims, &node);
  if (node.input(3) && !inputs[3]) return;
  Attributes attributes = node.attributes;
  std::vector<int64_t> strides;
  for (const readers::Window& axis : readers::readWindows(attributes, shape.dims().subspan(2)).axes)
    strides.push_back(axis.stride);
  strides.back() = pixels;
  attributes.set("strides", strides);
  attributes.erase("kernel_shape");
  Node* wide = rewriter.add(kMaxDomain, "Conv", std::move(inputs), std::move(attributes), {&node});
  Value* result =
      wide->output()->type.dims == dims ? rewriter.reshape(wide->output(), node.output()->type.dims, &node) : nullptr;
  if (!result || !rewriter.replace(&node, result)) rewriter.retire(result ? result->producer : wide);
}

void widen(Rewriter& rewriter, Node& node) {
  if (!node.isOwn("Conv") || node.placed || !isFloatConstant(node.input(1)) || !isRanked(node.output())) return;
  if (node.output()->type.dtype != DType::Float32 || (node.input(2) && !isFloatConstant(node.input(2)))) return;
  const Tensor& weights = *node.inputs[1]->constant;
  const int64_t groups = readers::readGroups(node.attributes), columns = weights.shape()[0] / groups;
  if (weights.shape().rank() < 3 || columns == 0 || columns > kFewColumns || weights.shape()[1] == 1) return;
  if (groups == 1) {
    if (const int64_t pixels = pixelsAtOnce(node, weights.shape()); pixels > 1) computePixels(rewriter, node, pixels);
    return;
  }
  const int64_t joined = largestDivisor(groups, kVector / columns);
  if (joined == 1) return;
  node.graph->replaceInput(node, 1, rewriter.constant(forGroups(weights, groups, joined)));
  node.attributes.set("group", groups / joined);
}

}  // namespace

void widenConvolutions(Rewriter& rewriter) {
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  for (Node* node : nodes) widen(rewriter, *node);
}

}  // namespace max
