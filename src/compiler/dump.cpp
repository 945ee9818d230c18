// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

namespace max {

namespace {

constexpr int kMaxDepth = 16;

template <class T>
void appendList(std::string& text, const std::vector<T>& values) {
  text += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) text += ',';
    appendTo(text, values[i]);
  }
  text += ']';
}

struct AttributePrinter {
  std::string& text;
  template <class T>
  void operator()(const T& value) const {
    appendTo(text, value);
  }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    appendList(text, values);
  }
  void operator()(const Ref<Tensor>& tensor) const {
    if (tensor) text += concat(tensor->dtype(), tensor->shape());
  }
  void operator()(const Ref<Graph>&) const { text += "graph"; }
  void operator()(const std::vector<Ref<Graph>>&) const { text += "graphs"; }
};

void appendValue(std::string& text, const Value* value) {
  if (!value) {
    text += '-';
    return;
  }
  text += value->name;
  if (value->constant) {
    text += concat("{", value->type);
    if (value->constant->count() <= 8 && isInteger(value->constant->dtype()) && sizeOf(value->constant->dtype()) >= 4)
      appendList(text, integerValues(*value->constant));
    if (value->constant->count() == 1 && value->constant->dtype() == DType::Float32)
      text += concat(" = ", *value->constant->as<float>());
    text += '}';
  }
}

void appendNode(std::string& text, const Node& node) {
  text += concat(node.domain(), node.domain().empty() ? "" : ".", node.op(), "(");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i) text += ", ";
    appendValue(text, node.inputs[i]);
  }
  text += ") -> ";
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (i) text += ", ";
    appendValue(text, node.outputs[i]);
    if (node.outputs[i]) text += concat(" ", node.outputs[i]->type, node.outputs[i]->isNarrow ? " as bfloat16" : "");
  }
  for (const auto& [name, value] : node.attributes.entries()) {
    text += concat(" ", name, "=");
    std::visit(AttributePrinter{text}, value);
  }
}

void appendGraph(std::string& text, const Graph& graph, int depth) {
  const std::string indent(static_cast<size_t>(2 * depth), ' ');
  for (const Value* input : graph.inputs()) text += concat(indent, "input ", input->name, " ", input->type, "\n");
  for (const Node* node : graph.nodes()) {
    text += indent;
    appendNode(text, *node);
    text += '\n';
    if (depth >= kMaxDepth) continue;
    for (const auto& [name, value] : node->attributes.entries())
      if (const auto* subgraph = std::get_if<Ref<Graph>>(&value)) {
        text += concat(indent, " ", name, ":\n");
        appendGraph(text, **subgraph, depth + 1);
      }
  }
  for (const Value* output : graph.outputs()) {
    text += concat(indent, "output ");
    appendValue(text, output);
    text += '\n';
  }
}

}  // namespace

std::string dump(const Graph& graph) {
  std::string text;
  appendGraph(text, graph, 0);
  return text;
}

}  // namespace max
