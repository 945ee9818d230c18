// SPDX-License-Identifier: Apache-2.0
// Fuses chains and trees of elementwise operators into one max.Elementwise with an expression, which reads and writes
// memory once.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes.h"
#include "ops/operator_library.h"

namespace max {

namespace {

constexpr size_t kMaxNodes = 32;  // per group; an operator takes one to a few instructions

bool isQuantization(const Node& node) {
  return node.domain().empty() && (node.is("QuantizeLinear") || node.is("DequantizeLinear"));
}

// What "fold" left as it is, for chains to dequantise.
bool dequantizesConstant(const Node& node) { return node.is("DequantizeLinear") && node.input(0)->constant; }

// What may join chains. Kernels of accelerators do not quantise.
class Fusable {
 public:
  explicit Fusable(const CompileOptions& options) : operators_(options.operators), quantizes_(!options.accelerator) {}

  bool operator()(const Node& node) const {
    if (node.outputs.size() != 1 || !isLive(node) || !isRanked(node.output())) return false;
    // Shape arithmetic is evaluated when a plan is made.
    if (node.output()->elements) return false;
    return (hasTrait(node, kTraitElementwise) || (quantizes_ && isQuantization(node))) && operators_.canFuse(node);
  }
  size_t maxInputs() const { return operators_.maxFusedInputs(); }

 private:
  const OperatorLibrary& operators_;
  bool quantizes_;
};

// A set of operators: one produces the result, the others are only used within the group.
class Group {
 public:
  Group(Node* last, const Fusable& isFusable) : isFusable_(isFusable), nodes_{last}, members_{last} {}

  // Adds producers to the group until none fits.
  void grow(const std::unordered_set<const Node*>& taken) {
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t i = 0; i < nodes_.size(); ++i)
        for (const Value* input : nodes_[i]->inputs)
          if (input && input->producer && !taken.contains(input->producer) && belongs(*input->producer)) {
            nodes_.push_back(input->producer);
            members_.insert(input->producer);
            grown = true;
          }
    }
  }

  // Last first.
  const std::vector<Node*>& nodes() const { return nodes_; }
  bool contains(const Node* node) const { return members_.contains(node); }

 private:
  bool belongs(const Node& node) const {
    const Value* output = node.output();
    if (nodes_.size() >= kMaxNodes || contains(&node) || node.graph != nodes_[0]->graph || !isFusable_(node))
      return false;
    // A smaller result would be recomputed for each element that it broadcasts to.
    const bool isWhole = sameDims(output, nodes_[0]->output()) || dequantizesConstant(node);
    if (!isWhole || output->isOutput()) return false;
    return std::all_of(output->uses.begin(), output->uses.end(),
                       [this](const Use& use) { return contains(use.node); }) &&
           inputsWith(node) <= isFusable_.maxInputs();
  }

  size_t inputsWith(const Node& candidate) const {
    std::unordered_set<const Value*> inputs;
    const auto add = [&](const Node& node) {
      for (const Value* input : node.inputs)
        if (input && !contains(input->producer) && input->producer != &candidate) inputs.insert(input);
    };
    for (const Node* node : nodes_) add(*node);
    add(candidate);
    return inputs.size();
  }

  const Fusable& isFusable_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> members_;
};

// Builds the expression of a group. One-element constants become part of it.
class ExpressionWriter {
 public:
  // `nodes`: producers before their users.
  explicit ExpressionWriter(const std::vector<Node*>& nodes) : expression_(makeRef<Expression>()) {
    for (const Node* node : nodes) append(*node);
  }

  const std::vector<Value*>& inputs() const { return inputs_; }
  Ref<const Expression> expression() const { return expression_; }

 private:
  using Operand = Expression::Operand;

  static Operand last(Operand::Kind kind, size_t count) { return {kind, static_cast<uint16_t>(count - 1)}; }

  Operand operandOf(Value* value) {
    if (!value) return {};
    const auto known = operands_.find(value);
    if (known != operands_.end()) return known->second;
    Operand operand;
    if (value->constant && value->constant->count() == 1) {
      expression_->constants.push_back(value->constant);
      operand = last(Operand::Constant, expression_->constants.size());
    } else {
      expression_->inputs.push_back(value->type.dtype);
      inputs_.push_back(value);
      operand = last(Operand::Input, inputs_.size());
    }
    operands_.emplace(value, operand);
    return operand;
  }

  void append(const Node& node) {
    std::vector<Operand> operands;
    for (Value* input : node.inputs) operands.push_back(operandOf(input));
    expression_->steps.push_back({node.schema, node.attributes, std::move(operands)});
    operands_[node.output()] = last(Operand::Step, expression_->steps.size());
  }

  Ref<Expression> expression_;
  std::vector<Value*> inputs_;
  std::unordered_map<const Value*, Operand> operands_;
};

using Positions = std::unordered_map<const Node*, size_t>;

// Integers are less to read than the numbers that they mean: each operator that could join a DequantizeLinear gets one
// of its own, in the same place.
void dequantizeForEach(Rewriter& rewriter, const Fusable& isFusable, Positions& positions) {
  for (Node* node : std::vector<Node*>(rewriter.graph().nodes())) {
    if (!node->is("DequantizeLinear") || node->output()->uses.size() < 2 || !isFusable(*node)) continue;
    const UseList uses = node->output()->uses;
    for (const Use& use : uses) {
      const bool joins = use.node->graph == node->graph && isFusable(*use.node);
      if (!joins || !(dequantizesConstant(*node) || sameDims(use.node->output(), node->output()))) continue;
      Node* own = rewriter.add("", node->op(), node->inputs, node->attributes, {node});
      positions.emplace(own, positions.at(node));
      rewriter.graph().replaceInput(*use.node, static_cast<size_t>(use.index), own->output());
    }
  }
}

void fuse(Rewriter& rewriter, std::vector<Node*> nodes) {
  const ExpressionWriter writer(nodes);
  if (writer.inputs().empty()) return;
  Ref<Prepared> lowered = rewriter.options().operators.lower(*writer.expression());
  if (!lowered) return;
  Value* result = nodes.back()->output();
  Attributes attributes;
  attributes.set("dtype", onnxFromDType(result->type.dtype));
  const std::vector<const Node*> origins(nodes.begin(), nodes.end());
  Node* fused = rewriter.add(kMaxDomain, "Elementwise", writer.inputs(), std::move(attributes), origins);
  fused->expression = writer.expression();
  fused->prepared = std::move(lowered);
  // Constants with more dimensions than all other operands are missing in the new node's shape.
  if (sameType(fused->output(), result))
    rewriter.replace(result, fused->output());
  else
    rewriter.retire(fused);
}

}  // namespace

void fuseElementwise(Rewriter& rewriter) {
  const Fusable isFusable(rewriter.options());
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  Positions positions;
  for (size_t i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i], i);
  dequantizeForEach(rewriter, isFusable, positions);
  std::unordered_set<const Node*> taken;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (taken.contains(*node) || !isFusable(**node)) continue;
    Group group(*node, isFusable);
    group.grow(taken);
    if (group.nodes().size() < 2) continue;
    std::vector<Node*> ordered = group.nodes();
    taken.insert(ordered.begin(), ordered.end());
    std::sort(ordered.begin(), ordered.end(),
              [&](const Node* a, const Node* b) { return positions.at(a) < positions.at(b); });
    try {
      fuse(rewriter, std::move(ordered));
    } catch (const Error& error) {
      if (endsCompilation(error)) throw;
      // Groups that cannot be lowered keep their operators.
    }
  }
}

}  // namespace max
