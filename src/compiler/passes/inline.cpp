// SPDX-License-Identifier: Apache-2.0
// If with a constant condition: moves the nodes of the chosen branch into the graph.
#include "compiler/passes.h"

namespace max {

namespace {

std::optional<bool> conditionOf(const Node& node) {
  const Value* condition = node.input(0);
  if (!condition || !condition->constant || condition->constant->count() != 1) return std::nullopt;
  if (condition->constant->dtype() != DType::Bool) return std::nullopt;
  return *condition->constant->as<uint8_t>() != 0;
}

bool inlineBranch(Rewriter& rewriter, Node& node) {
  const auto condition = conditionOf(node);
  if (!condition) return false;
  const Ref<Graph> branch = node.attributes.getGraph(*condition ? "then_branch" : "else_branch");
  if (!branch || branch->outputs().size() < node.outputs.size()) return false;
  const std::vector<Value*> results = rewriter.graph().inlineSubgraph(*branch, {});
  const std::vector<Value*> outputs = node.outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] && !rewriter.replace(outputs[i], results[i]))
      rewriter.replace(outputs[i], rewriter.add("", "Identity", {results[i]}, {}, {&node})->output());
  return true;
}

constexpr Rule kRules[] = {{"", "If", inlineBranch}};

}  // namespace

void inlineBranches(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
