// SPDX-License-Identifier: Apache-2.0
#include "onnx/node_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/name_map.h"

namespace max::onnx {

namespace {

using Names = std::vector<std::string_view>;

// The names that a subgraph uses but does not define. Subgraphs are nested at most kMaxGraphDepth deep.
void appendUsed(Bytes bytes, Names& used) {
  const GraphProto graph = parseGraph(bytes);
  NameViewSet defined;
  Names inside;
  for (Bytes input : graph.inputs) defined.insert(parseValueInfo(input).name);
  for (Bytes tensor : graph.initializers) defined.insert(parseTensorName(tensor));
  for (Bytes tensor : graph.sparseInitializers) defined.insert(parseTensorName(parseSparseTensor(tensor).values));
  for (Bytes bytesOfNode : graph.nodes) {
    const NodeNames node = parseNodeNames(bytesOfNode);
    inside.insert(inside.end(), node.inputs.begin(), node.inputs.end());
    defined.insert(node.outputs.begin(), node.outputs.end());
    for (Bytes subgraph : node.graphs) appendUsed(subgraph, inside);
  }
  for (Bytes output : graph.outputs) inside.push_back(parseValueInfo(output).name);
  for (std::string_view name : inside)
    if (!defined.count(name)) used.push_back(name);
}

class Order {
 public:
  Order(const std::vector<Bytes>& nodes, FunctionRef<bool(std::string_view)> isKnown) : needs_(nodes.size()) {
    for (Bytes node : nodes) nodes_.push_back(parseNodeNames(node));
    NameViewMap<size_t> makers;
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (std::string_view name : nodes_[i].outputs)
        if (!name.empty() && !isKnown(name)) makers.emplace(name, i);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Names used = nodes_[i].inputs;
      for (Bytes graph : nodes_[i].graphs) appendUsed(graph, used);
      for (std::string_view name : used) {
        const auto maker = makers.find(name);
        if (maker != makers.end()) need(i, maker->second);
      }
    }
  }

  bool isSorted() const { return isSorted_; }

  // Of all nodes that could be next, the first one in the file.
  std::vector<size_t> sorted(const std::string& owner) {
    std::vector<size_t> missing(needs_.size()), order;
    std::vector<std::vector<size_t>> users(needs_.size());
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < needs_.size(); ++i) {
      missing[i] = needs_[i].size();
      for (size_t maker : needs_[i]) users[maker].push_back(i);
      if (missing[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
      const size_t node = ready.top();
      ready.pop();
      order.push_back(node);
      for (size_t user : users[node])
        if (--missing[user] == 0) ready.push(user);
    }
    if (order.size() < needs_.size()) failForCycle(missing, owner);
    return order;
  }

 private:
  void need(size_t node, size_t maker) {
    needs_[node].push_back(maker);
    isSorted_ = isSorted_ && maker < node;
  }

  // Every remaining node needs another remaining one; following them finds a cycle.
  [[noreturn]] void failForCycle(const std::vector<size_t>& missing, const std::string& owner) const {
    const auto isLeft = [&](size_t node) { return missing[node] > 0; };
    std::vector<size_t> path;
    std::unordered_map<size_t, size_t> places;
    size_t node = 0;
    while (!isLeft(node)) ++node;
    while (places.emplace(node, path.size()).second) {
      path.push_back(node);
      node = *std::find_if(needs_[node].begin(), needs_[node].end(), isLeft);
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(places[node]));
    constexpr size_t kNamed = 8;
    std::string text;
    for (size_t i = 0; i < std::min(path.size(), kNamed); ++i) text += concat(i ? " needs " : "", label(path[i]));
    if (path.size() > kNamed) text += concat(" needs ... (", path.size(), " nodes in total)");
    invalidArgument(owner, ": nodes form a cycle: ", text, " needs ", label(path[0]));
  }

  std::string label(size_t i) const {
    const NodeNames& node = nodes_[i];
    const std::string_view output = node.outputs.empty() ? std::string_view() : node.outputs[0];
    return concat("'", node.name.empty() ? output : node.name, "' (", node.op, ")");
  }

  std::vector<NodeNames> nodes_;
  std::vector<std::vector<size_t>> needs_;
  bool isSorted_ = true;
};

}  // namespace

std::vector<Bytes> inOrder(const std::vector<Bytes>& nodes, FunctionRef<bool(std::string_view)> isKnown,
                           const std::string& owner) {
  Order order(nodes, isKnown);
  if (order.isSorted()) return nodes;
  std::vector<Bytes> sorted;
  for (size_t i : order.sorted(owner)) sorted.push_back(nodes[i]);
  return sorted;
}

}  // namespace max::onnx
