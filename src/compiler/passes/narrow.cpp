// SPDX-License-Identifier: Apache-2.0
// At the precision `medium`, values that only products of bfloat16 read are kept in that type: rounded once, by the
// node that makes them, and half as large.
#include <algorithm>

#include "compiler/passes.h"

namespace max {

namespace {

NarrowOperands narrowOperands(const Node& node, const OperatorLibrary& operators) {
  const OpRow* row = operators.find(node.domain(), node.op());
  return row && row->narrow ? row->narrow(node) : NarrowOperands();
}

constexpr int kMaxViews = 8;  // of each other

Value* viewOf(const Use& use) {
  return use.index == 0 && hasTrait(*use.node, kTraitView) && use.node->outputs.size() == 1 ? use.node->output()
                                                                                            : nullptr;
}

// Whether everything that reads the value or a view of it takes bfloat16.
bool mayBeNarrow(const Value& value, const OperatorLibrary& operators, int depth = 0) {
  if (value.type.dtype != DType::Float32 || value.isOutput() || value.uses.empty() || depth > kMaxViews) return false;
  return std::all_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
    if (use.node->graph != value.graph) return false;
    if (const Value* view = viewOf(use)) return mayBeNarrow(*view, operators, depth + 1);
    return narrowOperands(*use.node, operators).hasInput(static_cast<size_t>(use.index));
  });
}

void makeNarrow(Value& value) {
  value.isNarrow = true;
  for (const Use& use : value.uses)
    if (Value* view = viewOf(use)) makeNarrow(*view);
}

}  // namespace

void narrowValues(Rewriter& rewriter) {
  if (rewriter.options().precision != MAX_PRECISION_MEDIUM) return;
  const OperatorLibrary& operators = rewriter.options().operators;
  for (Node* node : rewriter.graph().nodes()) {
    const NarrowOperands made = narrowOperands(*node, operators);
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      Value* value = node->outputs[i];
      if (value && made.hasOutput(i) && mayBeNarrow(*value, operators)) makeNarrow(*value);
    }
  }
}

}  // namespace max
