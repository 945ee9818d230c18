// SPDX-License-Identifier: Apache-2.0
// Copies of graphs: clones, and subgraphs inlined into their parents.
#include <unordered_map>

#include "graph/graph.h"
#include "graph/schema.h"

namespace max {

// Copies nodes into a graph; values without a copy are outer ones and stay the same.
class GraphCopier {
 public:
  // `dims` converts dimensions to the target's table; NULL if both graphs share one.
  explicit GraphCopier(DimCopier* dims) : dims_(dims) {}

  void map(const Value* from, Value* to) { values_[from] = to; }
  Value* mapped(Value* value) const {
    const auto entry = values_.find(value);
    return entry == values_.end() ? value : entry->second;
  }

  void copyInterface(const Graph& from, Graph& to) {
    for (const Value* input : from.inputs_) {
      Value* copy = to.addInput(input->name, copied(input->type));
      copy->home = input->home;
      map(input, copy);
    }
  }

  void copyOutputs(const Graph& from, Graph& to) {
    for (size_t i = 0; i < from.outputs_.size(); ++i)
      to.addOutput(mapped(from.outputs_[i]), from.outputNames_[i], from.outputHomes_[i]);
  }

  // Constants and nodes. `keepNames` is for empty targets; otherwise names already in use are changed.
  void copyBody(const Graph& from, Graph& to, bool keepNames) {
    for (const Value& value : from.values_)
      if (value.graph == &from && !value.producer && !value.isInput) map(&value, copyLeaf(value, to, keepNames));
    for (const Node* node : from.order_) copyNode(*node, to, keepNames);
  }

 private:
  TensorType copied(TensorType type) {
    if (dims_)
      for (Dim& dim : type.dims) dim = dims_->copy(dim);
    return type;
  }

  Value* copyValue(const Value& value, Graph& to, bool keepNames) {
    Value* result = to.newValue(keepNames ? value.name : to.uniqueName(value.name), copied(value.type));
    result->constant = value.constant;
    result->elements = value.elements;
    result->home = value.home;
    if (dims_ && result->elements)
      for (Dim& dim : *result->elements) dim = dims_->copy(dim);
    return result;
  }

  Value* copyLeaf(const Value& value, Graph& to, bool keepNames) {
    Value* result = copyValue(value, to, keepNames);
    result->isWeight = value.isWeight;
    return result;
  }

  Ref<Graph> copySubgraph(const Graph& from, Graph& parent) {
    Ref<Graph> result = makeRef<Graph>(parent, from.name());
    copyInterface(from, *result);
    copyBody(from, *result, true);
    copyOutputs(from, *result);
    return result;
  }

  Attributes copyAttributes(const Attributes& attributes, Graph& to) {
    Attributes result = attributes;
    for (const auto& [name, attribute] : attributes.entries()) {
      if (const auto* graph = std::get_if<Ref<Graph>>(&attribute)) {
        if (*graph) result.set(name, copySubgraph(**graph, to));
      } else if (const auto* graphs = std::get_if<std::vector<Ref<Graph>>>(&attribute)) {
        std::vector<Ref<Graph>> copies;
        for (const Ref<Graph>& entry : *graphs) copies.push_back(copySubgraph(*entry, to));
        result.set(name, std::move(copies));
      }
    }
    return result;
  }

  void copyNode(const Node& node, Graph& to, bool keepNames) {
    auto copy = std::make_unique<Node>();
    copy->schema = node.schema;
    copy->name = node.name;
    copy->expression = node.expression;
    copy->products = node.products;
    copy->productParts = node.productParts;
    copy->prepared = node.prepared;
    copy->sources = node.sources;
    for (Value* input : node.inputs) copy->inputs.push_back(input ? mapped(input) : nullptr);
    copy->attributes = copyAttributes(node.attributes, to);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value* output = node.outputs[i] ? copyValue(*node.outputs[i], to, keepNames) : nullptr;
      copy->outputs.push_back(output);
      if (!output) continue;
      output->producer = copy.get();
      output->producerIndex = static_cast<int>(i);
      map(node.outputs[i], output);
    }
    to.attach(*copy);
    to.nodes_.push_back(std::move(copy));
  }

  DimCopier* dims_;
  std::unordered_map<const Value*, Value*> values_;
};

Ref<Graph> Graph::clone() const {
  require(!parent_, MAX_STATUS_INVALID_ARGUMENT, "Graph '", name_, "' is a subgraph and cannot be copied alone");
  Ref<Graph> result = makeRef<Graph>(name_);
  DimCopier dims(result->dimTable());
  GraphCopier copier(&dims);
  copier.copyInterface(*this, *result);
  copier.copyBody(*this, *result, true);
  copier.copyOutputs(*this, *result);
  return result;
}

std::vector<Value*> Graph::inlineSubgraph(const Graph& body, std::span<Value* const> arguments) {
  require(arguments.size() == body.inputs_.size(), MAX_STATUS_INTERNAL, "Graph '", body.name_, "' takes ",
          body.inputs_.size(), " arguments, not ", arguments.size());
  GraphCopier copier(nullptr);
  for (size_t i = 0; i < arguments.size(); ++i) copier.map(body.inputs_[i], arguments[i]);
  copier.copyBody(body, *this, false);
  std::vector<Value*> results;
  for (Value* output : body.outputs_) results.push_back(copier.mapped(output));
  return results;
}

}  // namespace max
