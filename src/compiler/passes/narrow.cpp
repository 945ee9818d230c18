// SPDX-License-Identifier: Apache-2.0
// At the precision `medium`, values that only products of bfloat16 read are kept in that type: rounded once, by the
// node that makes them, and half as large. Where others read them, too, products that would round each element again
// and again get a rounded copy.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "compiler/passes.h"

namespace max {

namespace {

NarrowOperands narrowOperands(const Node& node, const OperatorLibrary& operators) {
  const OpRow* row = node.placed ? nullptr : operators.find(node.domain(), node.op());
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

// What a value is a view of, if it is one.
Value* rootOf(Value* value) {
  for (int i = 0; value && i <= kMaxViews; ++i) {
    const Node* node = value->producer;
    if (!node || !hasTrait(*node, kTraitView) || node->outputs.size() != 1) return value;
    value = node->input(0);
  }
  return value;
}

// Values that may be narrow as far as the nodes that make and read them are concerned, each for itself.
std::unordered_set<Value*> candidates(const Graph& graph, const OperatorLibrary& operators) {
  std::unordered_set<Value*> found;
  for (Node* node : graph.nodes()) {
    const NarrowOperands made = narrowOperands(*node, operators);
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      Value* value = node->outputs[i];
      if (value && made.hasOutput(i) && mayBeNarrow(*value, operators)) found.insert(value);
    }
  }
  return found;
}

// The values that a node only takes and makes together.
std::vector<Value*> joinedBy(const Node& node, const NarrowOperands& narrow) {
  std::vector<Value*> values;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (narrow.hasInput(i)) values.push_back(rootOf(node.inputs[i]));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] && narrow.hasOutput(i)) values.push_back(node.outputs[i]);
  return values;
}

// Drops the values of such nodes where one of them may not be narrow.
void keepTogether(const Graph& graph, const OperatorLibrary& operators, std::unordered_set<Value*>& chosen) {
  std::vector<std::vector<Value*>> groups;
  for (Node* node : graph.nodes())
    if (const NarrowOperands narrow = narrowOperands(*node, operators); narrow.together)
      groups.push_back(joinedBy(*node, narrow));
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (const std::vector<Value*>& group : groups) {
      const auto isChosen = [&](Value* value) { return chosen.contains(value); };
      if (std::all_of(group.begin(), group.end(), isChosen)) continue;
      for (Value* value : group) dropped |= chosen.erase(value) > 0;
    }
  }
}

// A copy pays where elements are converted more often than this; the copy is one conversion, and is read.
constexpr double kMaxConversions = 2;

// Gives products that convert a value of floats a copy that is narrow.
void copyForProducts(Rewriter& rewriter, Value& value) {
  if (value.type.dtype != DType::Float32 || value.isNarrow || value.constant) return;
  double conversions = 0;
  std::vector<Node*> products;
  for (const Use& use : value.uses) {
    const NarrowOperands narrow = narrowOperands(*use.node, rewriter.options().operators);
    if (use.index != 0 || use.node->graph != value.graph || !narrow.hasInput(0) || narrow.conversions == 0) continue;
    conversions += narrow.conversions;
    products.push_back(use.node);
  }
  if (conversions <= kMaxConversions) return;
  Attributes attributes;
  attributes.set("to", onnxFromDType(DType::Float32));
  Node* copy = rewriter.add("", "Cast", {&value}, std::move(attributes), {products.front()});
  copy->products = DType::BFloat16;
  makeNarrow(*copy->output());
  for (Node* product : products) rewriter.graph().replaceInput(*product, 0, copy->output());
}

}  // namespace

void narrowValues(Rewriter& rewriter) {
  if (rewriter.options().hostPrecision() != MAX_PRECISION_MEDIUM) return;
  const OperatorLibrary& operators = rewriter.options().operators;
  std::unordered_set<Value*> chosen = candidates(rewriter.graph(), operators);
  keepTogether(rewriter.graph(), operators, chosen);
  for (Value* value : chosen) makeNarrow(*value);
  std::vector<Value*> others = rewriter.graph().inputs();
  for (Node* node : rewriter.graph().nodes()) others.insert(others.end(), node->outputs.begin(), node->outputs.end());
  for (Value* value : others)
    if (value) copyForProducts(rewriter, *value);
}

}  // namespace max
