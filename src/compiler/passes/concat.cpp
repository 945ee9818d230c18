// SPDX-License-Identifier: Apache-2.0
// What is done to each channel of joined convolutions is done to each convolution, which then takes it as a part of
// itself.
#include <algorithm>

#include "compiler/passes.h"
#include "graph/readers/normalization.h"

namespace max {

namespace {

// Of float32 with constant filters, perhaps with a norm that will become a part of it; all is read by the Concat.
bool isConvPart(const Value* value) {
  if (!hasSingleUse(value) || !isRanked(value) || rankOf(value) < 3 || !value->type.dims[1].isKnown()) return false;
  const Node* norm = producer(value, "BatchNormalization");
  if (norm && !hasSingleUse(norm->input(0))) return false;
  const Node* conv = producer(norm ? norm->input(0) : value, "Conv");
  return conv && conv->input(1)->constant && value->type.dtype == DType::Float32;
}

// Convolutions that are joined along the channels for `node` alone; NULL if its input is something else.
Node* joinedConvs(const Node& node) {
  Node* concat = producer(node.input(0), "Concat");
  if (!concat || !hasSingleUse(node.input(0)) || !isRanked(node.input(0))) return nullptr;
  if (!sameType(node.input(0), node.output()) || rankOf(node.input(0)) < 3) return nullptr;
  if (readers::readAxis(concat->attributes, 0, rankOf(node.input(0))) != 1) return nullptr;
  return std::all_of(concat->inputs.begin(), concat->inputs.end(), isConvPart) ? concat : nullptr;
}

// Elements [begin, begin + count) of a vector.
Value* sliceOf(Rewriter& rewriter, const Value* vector, int64_t begin, int64_t count) {
  const Tensor& whole = *vector->constant;
  const auto* from = static_cast<const std::byte*>(whole.data()) + begin * static_cast<int64_t>(sizeOf(whole.dtype()));
  return rewriter.constant(Tensor::copyOf(whole.dtype(), {count}, from));
}

// Does what `node` does to each part; `inputsOf(begin, count)` are its other inputs for these channels.
template <class InputsOf>
bool doToParts(Rewriter& rewriter, Node& node, Node& concat, InputsOf inputsOf) {
  std::vector<Value*> parts;
  int64_t begin = 0;
  for (Value* part : concat.inputs) {
    const int64_t count = part->type.dims[1].value();
    std::vector<Value*> inputs = inputsOf(begin, count);
    inputs.insert(inputs.begin(), part);
    parts.push_back(rewriter.add("", node.op(), std::move(inputs), node.attributes, {&node})->output());
    begin += count;
  }
  Node* joined = rewriter.add("", "Concat", std::move(parts), concat.attributes, {&concat, &node});
  return rewriter.replace(&node, joined->output());
}

bool normaliseParts(Rewriter& rewriter, Node& node) {
  Node* concat = joinedConvs(node);
  if (!concat || node.inputs.size() != 5 || readers::BatchNorm(node.attributes).isTraining) return false;
  const Dim channels = node.output()->type.dims[1];
  const auto isVector = [&](const Value* value) {
    return value && value->constant && value->constant->shape().rank() == 1 && channels.is(value->constant->count());
  };
  if (!std::all_of(node.inputs.begin() + 1, node.inputs.end(), isVector)) return false;
  return doToParts(rewriter, node, *concat, [&](int64_t begin, int64_t count) {
    std::vector<Value*> inputs;
    for (size_t i = 1; i < 5; ++i) inputs.push_back(sliceOf(rewriter, node.input(i), begin, count));
    return inputs;
  });
}

bool activateParts(Rewriter& rewriter, Node& node) {
  if (!canFuseActivation(node)) return false;
  Node* concat = joinedConvs(node);
  const auto others = [&](int64_t, int64_t) { return std::vector<Value*>(node.inputs.begin() + 1, node.inputs.end()); };
  return concat && doToParts(rewriter, node, *concat, others);
}

constexpr Rule kRules[] = {
    {"", "BatchNormalization", normaliseParts},
    {"", "", activateParts},
};

}  // namespace

void finishParts(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
