// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrite.h"

#include <algorithm>
#include <array>
#include <utility>

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

// Rules by operator, each operator's in their order. Made for each pass over each graph, most of which are small.
class RuleIndex {
 public:
  explicit RuleIndex(std::span<const Rule> rules) : rules_(rules), next_(rules.size()) {
    first_.fill(rules.size());
    for (size_t i = rules.size(); i-- > 0;) next_[i] = std::exchange(first_[bucketOf(rules[i].op)], i);
  }

  // NULL if there is none. `rule` NULL: the first one.
  const Rule* next(const Rule* rule, std::string_view op) const {
    size_t i = rule ? next_[static_cast<size_t>(rule - rules_.data())] : first_[bucketOf(op)];
    while (i < rules_.size() && rules_[i].op != op) i = next_[i];
    return i < rules_.size() ? &rules_[i] : nullptr;
  }

 private:
  static constexpr size_t kBuckets = 64;

  static size_t bucketOf(std::string_view op) {
    if (op.empty()) return 0;
    const auto character = [op](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(op[i])); };
    return (op.size() + character(0) * 5 + character(op.size() / 2) * 3 + character(op.size() - 1)) % kBuckets;
  }

  std::span<const Rule> rules_;
  std::vector<size_t> next_;
  std::array<size_t, kBuckets> first_;
};

bool applyTo(Rewriter& rewriter, Node& node, const RuleIndex& index, std::string_view key) {
  bool applied = false;
  for (const Rule* rule = index.next(nullptr, key); rule; rule = index.next(rule, key)) {
    if (!isLive(node)) return applied;
    if (rule->domain != node.domain() && !rule->op.empty()) continue;
    try {
      applied |= rule->apply(rewriter, node);
    } catch (const Error& error) {
      if (endsCompilation(error)) throw;
      // A node that cannot be made (sizes that overflow, for example) leaves the graph as it was, which may still run.
    }
  }
  return applied;
}

}  // namespace

bool endsCompilation(const Error& error) { return isStop(error.status()) || error.status() == MAX_STATUS_INTERNAL; }

void applyRules(Rewriter& rewriter, std::span<const Rule> rules, int rounds) {
  const RuleIndex index(rules);
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
