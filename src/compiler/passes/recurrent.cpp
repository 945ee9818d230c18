// SPDX-License-Identifier: Apache-2.0
// An accelerator's recurrent layers have float32 weights: those of bytes become such, which constant folding computes.
#include "graph/readers/recurrent.h"

#include <algorithm>

#include "compiler/passes.h"

namespace max {

namespace {

using enum readers::RecurrentInput;

bool isByteLayer(const Node& node) {
  constexpr size_t kNeeded[] = {kW, kR, kInputScale, kStateScale}, kZeros[] = {kInputZero, kStateZero};
  return node.isOwn("DynamicQuantizeLSTM") &&
         std::all_of(std::begin(kNeeded), std::end(kNeeded),
                     [&](size_t i) { return node.input(i) && node.input(i)->constant; }) &&
         std::all_of(std::begin(kZeros), std::end(kZeros),
                     [&](size_t i) { return !node.input(i) || node.input(i)->constant; });
}

// [directions, depth, columns], with one scale per direction or column, as floats [directions, columns, depth].
Value* dequantized(Rewriter& rewriter, const Node& layer, size_t input, size_t scaleInput, size_t zeroInput) {
  const auto reshaped = [&](Value* value, const std::vector<int64_t>& shape) {
    return rewriter.add("", "Reshape", {value, rewriter.constant(shape)}, {}, {&layer})->output();
  };
  const Shape& shape = layer.input(input)->constant->shape();
  const bool perColumn = rankOf(layer.input(scaleInput)) == 2;
  Value* weights = rewriter.transpose(layer.input(input), {0, 2, 1}, &layer);
  if (perColumn) weights = reshaped(weights, {shape[0] * shape[2], shape[1]});
  std::vector<Value*> inputs{weights};
  for (const size_t i : {scaleInput, zeroInput})
    if (Value* value = layer.input(i)) inputs.push_back(perColumn ? reshaped(value, {-1}) : value);
  Attributes axis;
  axis.set("axis", int64_t{0});
  Value* floats = rewriter.add("", "DequantizeLinear", std::move(inputs), std::move(axis), {&layer})->output();
  return perColumn ? reshaped(floats, {shape[0], shape[2], shape[1]}) : floats;
}

}  // namespace

void widenRecurrentWeights(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) return;
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  for (Node* node : nodes) {
    if (!isByteLayer(*node)) continue;
    std::vector<Value*> inputs(node->inputs.begin(), node->inputs.begin() + kInputScale);
    inputs[kW] = dequantized(rewriter, *node, kW, kInputScale, kInputZero);
    inputs[kR] = dequantized(rewriter, *node, kR, kStateScale, kStateZero);
    const Node* layer = rewriter.add("", "LSTM", std::move(inputs), node->attributes, {node}, node->outputs.size());
    for (size_t i = 0; i < node->outputs.size(); ++i)
      if (node->output(i)) rewriter.replace(node->output(i), layer->output(i));
  }
}

}  // namespace max
