// SPDX-License-Identifier: Apache-2.0
// Subgraphs of a node: the graphs among its attributes.
#pragma once

#include <variant>
#include <vector>

#include "graph/graph.h"

namespace max {

template <class Function>
void forEachSubgraph(const Node& node, Function&& function) {
  for (const auto& [name, attribute] : node.attributes.entries()) {
    if (const auto* graph = std::get_if<Ref<Graph>>(&attribute)) {
      if (*graph) function(**graph);
    } else if (const auto* graphs = std::get_if<std::vector<Ref<Graph>>>(&attribute)) {
      for (const Ref<Graph>& entry : *graphs)
        if (entry) function(*entry);
    }
  }
}

// Outer values that the node's subgraphs use; in effect they are inputs of the node.
inline std::vector<Value*> capturedBy(const Node& node) {
  std::vector<Value*> captured;
  forEachSubgraph(node, [&](const Graph& subgraph) {
    const std::vector<Value*> values = subgraph.capturedValues();
    captured.insert(captured.end(), values.begin(), values.end());
  });
  return captured;
}

}  // namespace max
