// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrite.h"

#include <algorithm>
#include <unordered_map>

#include "base/active_call.h"

namespace max {

namespace {

// Messages need no more; what stands for thousands of nodes, over and over, would hold all their names each time.
constexpr size_t kMaxSources = 64;

void appendSources(std::vector<std::string>& sources, const Node& origin) {
  const auto append = [&sources](const std::string& name) {
    if (sources.size() < kMaxSources && !name.empty() &&
        std::find(sources.begin(), sources.end(), name) == sources.end())
      sources.push_back(name);
  };
  if (origin.sources.empty()) append(origin.name);
  for (const std::string& name : origin.sources) append(name);
}

bool isUnused(const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const Value* value) { return !value || (value->uses.empty() && !value->isOutput()); });
}

}  // namespace

Node* Rewriter::add(std::string_view domain, std::string_view op, std::vector<Value*> inputs, Attributes attributes,
                    std::span<const Node* const> origins, size_t outputCount) {
  std::string name = origins.empty() || !origins.back() ? std::string() : origins.back()->name;
  Node* node = graph_.addNode(domain, op, std::move(inputs), std::move(attributes), outputCount, std::move(name));
  node->sources.clear();
  for (const Node* origin : origins)
    if (origin) appendSources(node->sources, *origin);
  changed_ = true;
  return node;
}

Value* Rewriter::constant(const std::vector<int64_t>& values) {
  return constant(Tensor::copyOf(DType::Int64, {static_cast<int64_t>(values.size())}, values.data()));
}

Value* Rewriter::reshape(Value* value, const SymbolicShape& dims, const Node* origin) {
  const auto target = reshapeTarget(value->type.dims, dims);
  if (!target) return nullptr;
  Value* result = add("", "Reshape", {value, constant(*target)}, {}, {origin})->output();
  if (result->type.dims == dims) return result;
  retire(result->producer);
  return nullptr;
}

Value* Rewriter::transpose(Value* value, const std::vector<int64_t>& perm, const Node* origin) {
  Attributes attributes;
  attributes.set("perm", perm);
  return add("", "Transpose", {value}, std::move(attributes), {origin})->output();
}

bool Rewriter::canReplace(const Value* from, const Value* to) const {
  if (!from->isOutput()) return true;
  return to->graph == from->graph && !to->isInput && !to->isOutput();
}

bool Rewriter::replace(Value* from, Value* to) {
  if (from == to || !canReplace(from, to)) return false;
  Node* node = from->producer;
  graph_.replaceAllUses(from, to);
  if (node && isUnused(*node)) retire(node);
  changed_ = true;
  return true;
}

void Rewriter::retire(Node* node) {
  std::vector<Node*> pending{node};
  while (!pending.empty()) {
    Node* next = pending.back();
    pending.pop_back();
    // Subgraphs use values too; eraseDead takes such nodes apart.
    if (next->graph != &graph_ || hasTrait(*next, kTraitControlFlow)) continue;
    for (size_t i = 0; i < next->inputs.size(); ++i) {
      Value* input = next->inputs[i];
      if (!input) continue;
      graph_.replaceInput(*next, i, nullptr);
      if (input->producer && isUnused(*input->producer)) pending.push_back(input->producer);
    }
  }
  changed_ = true;
}

void Rewriter::finish() {
  graph_.eraseDead();
  graph_.sort();
}

Value* asBias(Rewriter& rewriter, Value* value, const Value* output) {
  if (!value->constant || value->constant->dtype() != output->type.dtype) return nullptr;
  if (!isRanked(output) || rankOf(output) == 0) return nullptr;
  const Shape& shape = value->constant->shape();
  if (shape.rank() == 0 || shape.rank() > rankOf(output) || !output->type.dims.back().is(shape.back())) return nullptr;
  if (value->constant->count() != shape.back()) return nullptr;
  return shape.rank() == 1 ? value : rewriter.constant(value->constant->reshaped({shape.back()}));
}

namespace {

using RuleIndex = std::unordered_map<std::string_view, std::vector<const Rule*>>;

bool applyTo(Rewriter& rewriter, Node& node, const RuleIndex& index, std::string_view key) {
  const auto rules = index.find(key);
  if (rules == index.end()) return false;
  bool applied = false;
  for (const Rule* rule : rules->second) {
    if (!isLive(node)) return applied;
    if (rule->domain != node.domain() && !rule->op.empty()) continue;
    try {
      applied |= rule->apply(rewriter, node);
    } catch (const Error& error) {
      if (isStop(error.status())) throw;
      // A node that cannot be made (sizes that overflow, for example) leaves the graph as it was, which may still run.
    }
  }
  return applied;
}

}  // namespace

void applyRules(Rewriter& rewriter, std::span<const Rule> rules, int rounds) {
  RuleIndex index;
  for (const Rule& rule : rules) index[rule.op].push_back(&rule);
  bool applied = true;
  for (int round = 0; applied && round < rounds; ++round) {
    applied = false;
    const std::vector<Node*> nodes = rewriter.graph().nodes();
    for (Node* node : nodes) {
      checkInterrupt();
      applied |= applyTo(rewriter, *node, index, node->op());
      applied |= applyTo(rewriter, *node, index, "");
    }
    if (applied) rewriter.finish();
  }
}

}  // namespace max
