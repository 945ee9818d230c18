// SPDX-License-Identifier: Apache-2.0
// A product with one of several constant matrices, which a Gather takes out, as of an expert: all are packed at load,
// and none is copied. On the host.
#include "compiler/passes.h"
#include "graph/readers/matrix.h"
#include "graph/readers/normalization.h"

namespace max {

namespace {

// The Gather of one matrix of a constant tensor, by a number; NULL if `value` is something else.
const Node* selection(const Value* value) {
  const Node* gather = hasSingleUse(value) ? producer(value, "Gather") : nullptr;
  if (!gather || !gather->input(0)->constant || !isRanked(gather->input(1)) || rankOf(gather->input(1)) != 0)
    return nullptr;
  const Value* matrices = gather->input(0);
  if (matrices->type.dtype != DType::Float32 || !isRanked(matrices) || rankOf(matrices) != 3) return nullptr;
  return readers::readAxis(gather->attributes, 0, 3) == 0 ? gather : nullptr;
}

bool joinSelection(Rewriter& rewriter, Node& node) {
  const readers::Product product(node.attributes);
  const bool isPlain = !node.input(2) && !node.input(3) && !readers::hasActivation(node.attributes) &&
                       product.alpha == 1 && !product.transposesA;
  const Node* gather =
      isPlain && isRanked(node.input(0)) && rankOf(node.input(0)) >= 2 ? selection(node.input(1)) : nullptr;
  if (!gather) return false;
  Attributes attributes;
  attributes.set("transB", int64_t{product.transposesB});
  Node* joined = rewriter.add(kMaxDomain, "SelectedMatMul", {node.input(0), gather->input(0), gather->input(1)},
                              std::move(attributes), {gather, &node});
  return rewriter.replace(&node, joined->output());
}

constexpr Rule kRules[] = {{kMaxDomain, "MatMul", joinSelection}};

}  // namespace

void joinSelections(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) applyRules(rewriter, kRules);
}

}  // namespace max
