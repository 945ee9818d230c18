// SPDX-License-Identifier: Apache-2.0
// Chains and trees of elementwise operators become one max.Elementwise, which
// reads and writes memory once.
#include "ops/cpu/elementwise/elementwise.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes.h"

namespace max {

namespace {

constexpr size_t kMaxNodes = 32;  // of a group; an operator is one to a few instructions

bool isFusable(const Node& node) {
  if (node.outputs.size() != 1 || !isLive(node) || !isRanked(node.output())) return false;
  // Shape arithmetic is evaluated when a plan is made.
  if (node.output()->elements) return false;
  return hasTrait(node, kTraitElementwise) && canFuseElementwise(node);
}

// Operators of which one makes the result and all others feed only operators of the group.
class Group {
 public:
  explicit Group(Node* last) : nodes_{last}, members_{last} {}

  // Adds producers to the chain until none fits.
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
    if (nodes_.size() >= kMaxNodes || contains(&node) || node.graph != nodes_[0]->graph || !isFusable(node))
      return false;
    // A smaller result would be computed again for each element that it broadcasts to.
    if (!sameDims(output, nodes_[0]->output()) || output->isOutput()) return false;
    return std::all_of(output->uses.begin(), output->uses.end(),
                       [this](const Use& use) { return contains(use.node); }) &&
           inputsWith(node) <= kMaxElementwiseInputs;
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

  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> members_;
};

// Writes the program of a group down.
class Fuser {
 public:
  explicit Fuser(const std::vector<Node*>& nodes) : nodes_(nodes) {}

  // False if the program is too long.
  bool build() {
    // Producers before their users: the members in graph order.
    for (Node* node : nodes_) append(*node);
    builder_.output(ids_.at(nodes_.back()->output()));
    return builder_.instructionCount() <= kMaxElementwiseInstructions && !inputs_.empty();
  }

  const std::vector<Value*>& inputs() const { return inputs_; }
  Ref<ElementwiseProgram> program() { return builder_.finish(); }

 private:
  using Id = ElementwiseBuilder::Id;

  Id idOf(Value* value) {
    if (!value) return Id::Omitted;
    const auto known = ids_.find(value);
    if (known != ids_.end()) return known->second;
    Id id;
    if (value->constant && value->constant->count() == 1) {
      id = builder_.constant(*value->constant);
    } else {
      id = builder_.input(value->type.dtype);
      inputs_.push_back(value);
    }
    ids_.emplace(value, id);
    return id;
  }

  void append(Node& node) {
    std::vector<Id> operands;
    for (Value* input : node.inputs) operands.push_back(idOf(input));
    if (node.isOwn("Elementwise"))
      ids_[node.output()] =
          builder_.appendProgram(static_cast<const ElementwiseProgram&>(*node.prepared), operands).front();
    else
      ids_[node.output()] = builder_.append(node, operands);
  }

  std::vector<Node*> nodes_;
  ElementwiseBuilder builder_;
  std::unordered_map<const Value*, Id> ids_;
  std::vector<Value*> inputs_;
};

void fuse(Rewriter& rewriter, std::vector<Node*> nodes) {
  Fuser fuser(nodes);
  if (!fuser.build()) return;
  Value* result = nodes.back()->output();
  Attributes attributes;
  attributes.set("dtype", onnxFromDType(result->type.dtype));
  const std::vector<const Node*> origins(nodes.begin(), nodes.end());
  Node* fused = rewriter.add(kMaxDomain, "Elementwise", fuser.inputs(), std::move(attributes), origins);
  fused->prepared = fuser.program();
  // Constants with more dimensions than all other operands are missing in the new node's shape.
  if (sameType(fused->output(), result))
    rewriter.replace(result, fused->output());
  else
    rewriter.retire(fused);
}

}  // namespace

void fuseElementwise(Rewriter& rewriter) {
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  std::unordered_map<const Node*, size_t> positions;
  for (size_t i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i], i);
  std::unordered_set<const Node*> taken;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (taken.contains(*node) || !isFusable(**node)) continue;
    Group group(*node);
    group.grow(taken);
    if (group.nodes().size() < 2) continue;
    std::vector<Node*> ordered = group.nodes();
    taken.insert(ordered.begin(), ordered.end());
    std::sort(ordered.begin(), ordered.end(),
              [&](const Node* a, const Node* b) { return positions.at(a) < positions.at(b); });
    try {
      fuse(rewriter, std::move(ordered));
    } catch (const Error& error) {
      if (isStop(error.status())) throw;
      // A program that cannot be built leaves its operators as they are.
    }
  }
}

}  // namespace max
