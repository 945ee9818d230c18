// SPDX-License-Identifier: Apache-2.0
// Merges equal nodes (same operator, inputs, attributes) and small equal constants.
#include <functional>
#include <unordered_map>

#include "compiler/passes.h"

namespace max {

namespace {

constexpr size_t kSmallConstantBytes = 256;

size_t mix(size_t seed, size_t value) { return seed * 0x9e3779b97f4a7c15u + value; }

template <class T>
size_t hashValue(const T& value) {
  return std::hash<T>()(value);
}
template <class T>
size_t hashValue(const Ref<T>& object) {
  return std::hash<const void*>()(object.get());
}
template <class T>
size_t hashValue(const std::vector<T>& values) {
  size_t hash = values.size();
  for (const T& value : values) hash = mix(hash, hashValue(value));
  return hash;
}

size_t hashNode(const Node& node) {
  size_t hash = std::hash<const void*>()(node.schema);
  for (const auto& [name, attribute] : node.attributes.entries())
    hash = mix(hash, std::visit([](const auto& value) { return hashValue(value); }, attribute));
  for (const Value* input : node.inputs) {
    const size_t value = std::hash<const void*>()(input);
    // Commutative operators have the same hash in both orders.
    hash = hasTrait(node, kTraitCommutative) ? hash + value : mix(hash, value);
  }
  return mix(hash, node.outputs.size());
}

bool sameInputs(const Node& a, const Node& b) {
  if (a.inputs == b.inputs) return true;
  return hasTrait(a, kTraitCommutative) && a.inputs.size() == 2 && b.inputs.size() == 2 && a.inputs[0] == b.inputs[1] &&
         a.inputs[1] == b.inputs[0];
}

bool isMergeable(const Node& node) {
  return isLive(node) && !hasTrait(node, kTraitRandom) && !hasTrait(node, kTraitControlFlow) && !node.prepared;
}

bool sameNode(const Node& a, const Node& b) {
  return a.schema == b.schema && a.outputs.size() == b.outputs.size() && sameInputs(a, b) &&
         a.attributes.entries() == b.attributes.entries();
}

// The matching entry among the first ones with this hash: a hostile file can make all hashes equal.
template <class Map, class Fits>
auto findAlike(Map& seen, size_t hash, const Fits& fits) {
  constexpr int kMostTried = 32;
  auto [entry, end] = seen.equal_range(hash);
  for (int tried = 0; entry != end; ++entry, ++tried) {
    if (tried == kMostTried) return seen.end();
    if (fits(*entry->second)) return entry;
  }
  return seen.end();
}

bool replaceNode(Rewriter& rewriter, Node& node, Node& kept) {
  bool replaced = false;
  const std::vector<Value*> outputs = node.outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] && kept.outputs[i]) replaced |= rewriter.replace(outputs[i], kept.outputs[i]);
  return replaced;
}

size_t hashTensor(const Tensor& tensor) {
  const std::string_view bytes(static_cast<const char*>(tensor.data()), tensor.bytes());
  size_t hash = mix(std::hash<std::string_view>()(bytes), static_cast<size_t>(tensor.dtype()));
  for (const int64_t dim : tensor.shape()) hash = mix(hash, static_cast<size_t>(dim));
  return hash;
}

void mergeConstants(Rewriter& rewriter) {
  std::unordered_multimap<size_t, Value*> seen;
  for (Node* node : rewriter.graph().nodes())
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      Value* value = node->inputs[i];
      if (!value || !value->constant || value->isWeight || value->graph != node->graph) continue;
      if (value->constant->dtype() == DType::String || value->constant->bytes() > kSmallConstantBytes) continue;
      const size_t hash = hashTensor(*value->constant);
      const auto same = findAlike(seen, hash, [value](const Value& other) {
        return &other == value || sameTensor(*other.constant, *value->constant);
      });
      if (same == seen.end())
        seen.emplace(hash, value);
      else if (same->second != value)
        rewriter.graph().replaceInput(*node, i, same->second);
    }
}

}  // namespace

void mergeDuplicates(Rewriter& rewriter) {
  mergeConstants(rewriter);
  std::unordered_multimap<size_t, Node*> seen;
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  for (Node* node : nodes) {
    if (!isMergeable(*node)) continue;
    const size_t hash = hashNode(*node);
    const auto same = findAlike(seen, hash, [node](const Node& other) { return sameNode(other, *node); });
    if (same == seen.end())
      seen.emplace(hash, node);
    else
      replaceNode(rewriter, *node, *same->second);
  }
}

}  // namespace max
