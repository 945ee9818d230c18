// SPDX-License-Identifier: Apache-2.0
// Gradient of ai.onnx.preview.training: derivatives of one value by others, of a graph of simple operators.
#include <algorithm>
#include <map>
#include <set>

#include "graph/composites/tables.h"

namespace max {

namespace {

// An operator's contribution to the derivatives by its inputs, given the one by its output.
using Rule = void (*)(Expansion& e, const Node& node, Value* by, Values& results);

void ruleOfAdd(Expansion&, const Node&, Value* by, Values& results) { results = {by, by}; }
void ruleOfSub(Expansion& e, const Node&, Value* by, Values& results) { results = {by, e.op("Neg", {by})}; }
void ruleOfMul(Expansion& e, const Node& node, Value* by, Values& results) {
  results = {e.mul(by, node.inputs[1]), e.mul(by, node.inputs[0])};
}
void ruleOfDiv(Expansion& e, const Node& node, Value* by, Values& results) {
  Value* first = e.div(by, node.inputs[1]);
  results = {first, e.op("Neg", {e.mul(first, node.outputs[0])})};
}
void ruleOfNeg(Expansion& e, const Node&, Value* by, Values& results) { results = {e.op("Neg", {by})}; }
void ruleOfIdentity(Expansion&, const Node&, Value* by, Values& results) { results = {by}; }
void ruleOfExp(Expansion& e, const Node& node, Value* by, Values& results) { results = {e.mul(by, node.outputs[0])}; }
void ruleOfLog(Expansion& e, const Node& node, Value* by, Values& results) { results = {e.div(by, node.inputs[0])}; }
void ruleOfSqrt(Expansion& e, const Node& node, Value* by, Values& results) {
  results = {e.div(by, e.add(node.outputs[0], node.outputs[0]))};
}
void ruleOfTanh(Expansion& e, const Node& node, Value* by, Values& results) {
  Value* y = node.outputs[0];
  results = {e.mul(by, e.sub(e.like(y, 1), e.mul(y, y)))};
}
void ruleOfSigmoid(Expansion& e, const Node& node, Value* by, Values& results) {
  Value* y = node.outputs[0];
  results = {e.mul(by, e.sub(y, e.mul(y, y)))};
}

struct RuleRow {
  std::string_view op;
  Rule rule;
};
constexpr RuleRow kDerivatives[] = {
    {"Add", ruleOfAdd},   {"Div", ruleOfDiv}, {"Exp", ruleOfExp},   {"Identity", ruleOfIdentity},
    {"Log", ruleOfLog},   {"Mul", ruleOfMul}, {"Neg", ruleOfNeg},   {"Sigmoid", ruleOfSigmoid},
    {"Sqrt", ruleOfSqrt}, {"Sub", ruleOfSub}, {"Tanh", ruleOfTanh},
};

Rule findRule(Expansion& e, const Node& node) {
  for (const RuleRow& row : kDerivatives)
    if (node.is(row.op)) return row.rule;
  e.unsupported("the derivative of ", node.description(), " is not supported");
}

// Nodes between the inputs and y, producers before consumers.
std::vector<const Node*> nodesBetween(Value* y, const std::set<const Value*>& ends) {
  std::vector<const Node*> order;
  std::set<const Node*> seen;
  std::vector<std::pair<const Node*, size_t>> stack;
  const auto enter = [&](const Value* value) {
    if (value && !ends.count(value) && value->producer && seen.insert(value->producer).second)
      stack.emplace_back(value->producer, 0);
  };
  enter(y);
  while (!stack.empty()) {
    const Node* node = stack.back().first;
    if (stack.back().second < node->inputs.size()) {
      enter(node->inputs[stack.back().second++]);
    } else {
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

Value* named(Expansion& e, const std::string& name) {
  Value* value = e.input(0)->graph->findValue(name);
  if (!value) e.invalid("there is no value '", name, "' in its graph");
  return value;
}

// A derivative has the shape of its variable, so operators must not broadcast.
void requireSameShapes(Expansion& e, const Node& node) {
  for (const Value* input : node.inputs)
    if (!input || !input->type.ranked || input->type.dims != node.outputs[0]->type.dims)
      e.unsupported("the derivative of ", node.description(), " with inputs of other shapes is not supported");
}

void expandGradient(Expansion& e) {
  std::vector<std::string> names = e.attributes().getStrings("xs");
  const size_t wanted = names.size();
  for (std::string& name : e.attributes().getStrings("zs")) names.push_back(std::move(name));
  if (names.size() != e.inputCount() || wanted < e.outputCount())
    e.invalid("has ", e.inputCount(), " inputs and ", e.outputCount(), " outputs for ", names.size(), " names");
  std::set<const Value*> ends;
  for (size_t i = 0; i < names.size(); ++i) {
    if (named(e, names[i]) != e.input(i)) e.unsupported("other values in place of '", names[i], "' are not supported");
    ends.insert(e.input(i));
  }
  Value* y = named(e, e.text("y", ""));
  std::map<const Value*, Value*> derivatives;
  derivatives[y] = e.op("Expand", {e.like(y, 1), e.op("Shape", {y})});
  std::vector<const Node*> order = nodesBetween(y, ends);
  std::reverse(order.begin(), order.end());
  for (const Node* node : order) {
    const auto by = derivatives.find(node->outputs[0]);
    if (by == derivatives.end()) continue;
    const Rule rule = findRule(e, *node);
    requireSameShapes(e, *node);
    Values parts;
    rule(e, *node, by->second, parts);
    for (size_t i = 0; i < parts.size(); ++i) {
      Value*& sum = derivatives[node->inputs[i]];
      sum = sum ? e.add(sum, parts[i]) : parts[i];
    }
  }
  for (size_t i = 0; i < e.outputCount(); ++i) {
    Value* found = derivatives[e.input(i)];
    if (!found) found = e.op("Expand", {e.like(e.input(i), 0), e.op("Shape", {e.input(i)})});
    e.setOutput(i, e.op("Identity", {found}));
  }
}

const Composite kRows[] = {
    {{"ai.onnx.preview.training", "Gradient", 1, 1, 1, 1, "float...->*...", nullptr, kTraitVariadic, 0,
      "xs=S y=s zs=S"},
     expandGradient},
};

}  // namespace

std::span<const Composite> gradientComposites() { return kRows; }

}  // namespace max
