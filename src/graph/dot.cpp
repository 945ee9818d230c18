// SPDX-License-Identifier: Apache-2.0
#include "graph/dot.h"

#include <unordered_map>
#include <utility>

#include "base/printable.h"
#include "graph/schema.h"

namespace max {

namespace {

constexpr size_t kMaxLine = 60;
constexpr size_t kMaxConstants = 4;  // of a node, that are listed

// Long names keep their ends, which say more than their beginnings.
std::string shortened(std::string_view text) {
  if (text.size() <= kMaxLine) return std::string(text);
  return concat("...", text.substr(text.size() - kMaxLine + 3));
}

void appendEscaped(std::string& target, std::string_view text) {
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') target += '\\';
    target += c;
  }
}

class GraphDrawing {
 public:
  explicit GraphDrawing(const Graph& graph) : writer_(graph.name()) {
    add(graph, 0);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const Value* value = graph.outputs()[i];
      const size_t box = writer_.addTensor(graph.outputNames()[i], concat(value->type));
      connect(value, box);
    }
  }
  std::string finish() { return writer_.finish(); }

 private:
  void add(const Graph& graph, int depth) {
    for (const Value* input : graph.inputs()) made_[input] = writer_.addTensor(input->name, concat(input->type));
    for (const Node* node : graph.nodes()) addNode(*node, depth);
  }

  void addNode(const Node& node, int depth) {
    std::vector<std::string> lines = {node.domain().empty() ? std::string(node.op())
                                                            : concat(node.domain(), ".", node.op())};
    if (!node.name.empty()) lines.push_back(node.name);
    size_t constants = 0;
    for (const Value* input : node.inputs)
      if (input && input->constant && ++constants <= kMaxConstants)
        lines.push_back(concat(input->name, " ", input->type));
    if (constants > kMaxConstants) lines.push_back(concat("and ", constants - kMaxConstants, " more constants"));
    const size_t box = writer_.addNode(lines);
    for (const Value* input : node.inputs) connect(input, box);
    for (const Value* output : node.outputs)
      if (output) made_[output] = box;
    if (depth >= kMaxGraphDepth) return;
    for (const auto& [name, value] : node.attributes.entries())
      if (const auto* subgraph = std::get_if<Ref<Graph>>(&value)) addSubgraph(node, name, **subgraph, depth);
  }

  void addSubgraph(const Node& node, std::string_view attribute, const Graph& graph, int depth) {
    writer_.beginFrame(concat(attribute, " of ", node.name.empty() ? std::string(node.op()) : node.name));
    add(graph, depth + 1);
    writer_.endFrame();
  }

  void connect(const Value* value, size_t box) {
    const auto source = made_.find(value);
    if (value && source != made_.end()) writer_.addEdge(source->second, box, concat(value->type));
  }

  DotWriter writer_;
  std::unordered_map<const Value*, size_t> made_;
};

}  // namespace

DotWriter::DotWriter(std::string_view name) {
  text_ = "digraph ";
  appendQuoted(name);
  text_ +=
      " {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8eef7\", fontname=\"Helvetica\", "
      "fontsize=10];\n  edge [fontname=\"Helvetica\", fontsize=8];\n";
}

size_t DotWriter::addNode(const std::vector<std::string>& lines) { return addBox(lines, ""); }

size_t DotWriter::addTensor(std::string_view name, std::string_view type) {
  return addBox({std::string(name), std::string(type)}, ", shape=ellipse, fillcolor=\"#f6ecd9\"");
}

size_t DotWriter::addBox(const std::vector<std::string>& lines, const char* style) {
  text_ += concat(std::string(2 * depth_, ' '), "b", boxes_, " [label=\"");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i) text_ += "\\n";
    appendEscaped(text_, shortened(lines[i]));
  }
  text_ += concat("\"", style, "];\n");
  return boxes_++;
}

// Edges follow all boxes, so that frames only contain their own.
void DotWriter::addEdge(size_t from, size_t to, std::string_view label) {
  edges_ += concat("  b", from, " -> b", to, " [label=\"");
  appendEscaped(edges_, shortened(label));
  edges_ += "\"];\n";
}

void DotWriter::beginFrame(std::string_view label) {
  text_ += concat(std::string(2 * depth_, ' '), "subgraph cluster", frames_++, " {\n");
  ++depth_;
  text_ += concat(std::string(2 * depth_, ' '), "style=dashed; fontname=\"Helvetica\"; fontsize=10; label=");
  appendQuoted(shortened(label));
  text_ += ";\n";
}

void DotWriter::endFrame() {
  --depth_;
  text_ += concat(std::string(2 * depth_, ' '), "}\n");
}

std::string DotWriter::finish() { return concat(text_, edges_, "}\n"); }

void DotWriter::appendQuoted(std::string_view text) {
  text_ += '"';
  appendEscaped(text_, text);
  text_ += '"';
}

std::string draw(const Graph& graph) { return GraphDrawing(graph).finish(); }

}  // namespace max
