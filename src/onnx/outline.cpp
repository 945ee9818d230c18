// SPDX-License-Identifier: Apache-2.0
#include "onnx/outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/name_map.h"
#include "graph/dot.h"
#include "onnx/graph_builder.h"
#include "onnx/node_order.h"
#include "onnx/proto.h"
#include "onnx/tensor_reader.h"

namespace max {

namespace {

using namespace onnx;

GraphProto mainGraph(const Storage& file) {
  return parseGraph(parseModel({static_cast<const char*>(file.data()), file.size()}).graph);
}

std::string typeText(const TensorProto& tensor) {
  const std::optional<DType> dtype = dtypeFromOnnx(tensor.dataType);
  std::string text(dtype ? nameOf(*dtype) : "unknown");
  text += '[';
  // Each box that uses the tensor repeats it.
  const size_t shown = std::min<size_t>(tensor.dims.size(), kMaxRank);
  for (size_t i = 0; i < shown; ++i) text += concat(i ? ", " : "", tensor.dims[i]);
  return text + (shown < tensor.dims.size() ? ", ...]" : "]");
}

constexpr size_t kMaxLines = 6;  // of one box

class Drawing {
 public:
  explicit Drawing(const GraphProto& graph) : writer_(graph.name) {
    add(graph, 0);
    for (Bytes bytes : graph.outputs) {
      const ValueInfoProto info = parseValueInfo(bytes);
      connect(info.name, writer_.addTensor(info.name, concat(declaredType(info, *symbols_))));
    }
  }
  std::string finish() { return writer_.finish(); }

 private:
  // Names in subgraphs hide outer ones.
  void add(const GraphProto& graph, int depth) {
    for (Bytes bytes : graph.initializers) {
      const TensorProto tensor = parseTensor(bytes);
      constants_[tensor.name] = typeText(tensor);
    }
    for (Bytes bytes : graph.inputs) {
      const ValueInfoProto info = parseValueInfo(bytes);
      if (constants_.count(info.name)) continue;
      made_[info.name] = writer_.addTensor(info.name, concat(declaredType(info, *symbols_)));
    }
    for (Bytes bytes : ordered(graph)) addNode(parseNode(bytes), depth);
  }

  // Edges are drawn from existing boxes. Nodes on a cycle are drawn too, as far as possible.
  std::vector<Bytes> ordered(const GraphProto& graph) const {
    const auto isKnown = [this](std::string_view name) { return made_.count(name) > 0 || constants_.count(name) > 0; };
    try {
      return inOrder(graph.nodes, isKnown, "");
    } catch (const Error&) {
      return graph.nodes;
    }
  }

  void addNode(const NodeProto& node, int depth) {
    std::vector<std::string> lines = {node.domain.empty() ? std::string(node.op) : concat(node.domain, ".", node.op)};
    if (!node.name.empty()) lines.emplace_back(node.name);
    for (std::string_view input : node.inputs)
      if (const auto constant = constants_.find(input); constant != constants_.end() && lines.size() < kMaxLines)
        lines.push_back(concat(input, " ", constant->second));
    const size_t box = writer_.addNode(lines);
    for (std::string_view input : node.inputs) connect(input, box);
    for (std::string_view output : node.outputs) made_[output] = box;
    if (depth >= kMaxGraphDepth) return;
    for (const AttributeProto& attribute : node.attributes) {
      if (!attribute.g.empty()) addSubgraph(node, attribute, attribute.g, depth);
      for (Bytes graph : attribute.graphs) addSubgraph(node, attribute, graph, depth);
    }
  }

  void addSubgraph(const NodeProto& node, const AttributeProto& attribute, Bytes bytes, int depth) {
    writer_.beginFrame(concat(attribute.name, " of ", node.name.empty() ? node.op : node.name));
    add(parseGraph(bytes), depth + 1);
    writer_.endFrame();
  }

  void connect(std::string_view name, size_t box) {
    const auto source = made_.find(name);
    if (!name.empty() && source != made_.end()) writer_.addEdge(source->second, box, name);
  }

  std::shared_ptr<DimTable> symbols_ = std::make_shared<DimTable>();
  DotWriter writer_;
  NameViewMap<size_t> made_;
  NameViewMap<std::string> constants_;
};

}  // namespace

ModelOutline outlineOnnx(const Storage& file) {
  const GraphProto graph = mainGraph(file);
  NameViewSet weights;
  for (Bytes bytes : graph.initializers) weights.insert(parseTensor(bytes).name);
  ModelOutline outline;
  outline.symbols = std::make_shared<DimTable>();
  for (Bytes bytes : graph.inputs) {
    const ValueInfoProto info = parseValueInfo(bytes);
    if (!weights.count(info.name)) outline.inputs.emplace_back(info.name, declaredType(info, *outline.symbols));
  }
  for (Bytes bytes : graph.outputs) {
    const ValueInfoProto info = parseValueInfo(bytes);
    outline.outputs.emplace_back(info.name, declaredType(info, *outline.symbols));
  }
  return outline;
}

std::string drawOnnx(const Storage& file) { return Drawing(mainGraph(file)).finish(); }

}  // namespace max
