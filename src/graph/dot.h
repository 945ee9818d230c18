// SPDX-License-Identifier: Apache-2.0
// Drawings of graphs in the DOT language of Graphviz.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace max {

// Writes boxes, arrows between them, and frames around subgraphs.
class DotWriter {
 public:
  explicit DotWriter(std::string_view name);

  // Boxes are numbered from 0. The first line of a label is the heading.
  size_t addNode(const std::vector<std::string>& lines);
  size_t addTensor(std::string_view name, std::string_view type);  // an input or output of the graph
  void addEdge(size_t from, size_t to, std::string_view label);
  void beginFrame(std::string_view label);
  void endFrame();
  std::string finish();

 private:
  size_t addBox(const std::vector<std::string>& lines, const char* style);
  void appendQuoted(std::string_view text);

  std::string text_, edges_;
  size_t boxes_ = 0, frames_ = 0, depth_ = 1;
};

// A graph with its subgraphs: a box per node with its operator, name and constants.
std::string draw(const Graph& graph);

}  // namespace max
