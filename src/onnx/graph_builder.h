// SPDX-License-Identifier: Apache-2.0
// GraphProto -> Graph. Subgraphs and functions get their own builders.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/name_map.h"
#include "onnx/body_types.h"
#include "onnx/functions.h"
#include "onnx/opset.h"
#include "onnx/tensor_reader.h"

namespace max::onnx {

// The type of an input or output as declared in the file; `symbols` gets its dimensions.
TensorType declaredType(const ValueInfoProto& info, DimTable& symbols);

class GraphBuilder {
 public:
  struct Shared {
    const ModelProto& model;
    const Functions& functions;
    const ImportOptions& options;
    TensorReader tensors;
    ExpansionBudget budget;
    size_t nodes = 0;                                           // made so far
    int nesting = 0;                                            // functions and subgraphs being built
    int bodies = 0;                                             // loop bodies being built
    std::unordered_map<const char*, Forgotten> forgotten = {};  // by body
    // Tensors of functions and bodies, which may be built more than once; by place in the file and kind of Constant.
    std::map<std::pair<const char*, std::string_view>, Ref<Tensor>> constants = {};
  };

  // A main graph, or with `outer` a subgraph, which can also use the outer names.
  GraphBuilder(Shared& shared, Graph& graph, const GraphBuilder* outer);

  // `inputs`: the types of a body's inputs, regardless of its declarations.
  void build(const GraphProto& proto, std::span<const TensorType> inputs = {});
  const std::vector<TensorType>& declaredOutputs() const { return declaredOutputs_; }

 private:
  // An attribute and the scope of its subgraphs (NULL: the scope of the lookup).
  struct Resolved {
    const AttributeProto* attribute;
    const GraphBuilder* scope;
  };
  // A function in place of a node.
  struct Call {
    const FunctionProto& function;
    std::string name;  // of the node and the enclosing calls
    NameViewMap<Resolved> attributes;
  };

  GraphBuilder(const GraphBuilder& caller, const Call& call);
  void define(std::string_view name, Value* value);
  Value* find(std::string_view name) const;
  int64_t versionOf(std::string_view domain) const;
  std::string labelOf(const NodeProto& node) const;
  std::string graphName(std::string_view name) const;
  void addInitializers(const GraphProto& proto);
  TensorType typeOf(const ValueInfoProto& info) { return declaredType(info, graph_.dimTable()); }
  void addInput(const ValueInfoProto& info, const TensorType* known);
  TensorType inputType(const ValueInfoProto& info, const TensorType* known);
  void addOutput(const ValueInfoProto& info);
  Value* inputOf(const NodeProto& node, std::string_view name) const;
  void addNode(const NodeProto& proto);
  void addUnnamed(const NodeProto& proto);
  void addOperator(const NodeProto& proto);
  void callFunction(const NodeProto& node, const FunctionProto& function);
  NameViewMap<Resolved> argumentsOf(const NodeProto& node, const FunctionProto& function) const;
  void expandBody();
  Resolved resolve(const AttributeProto& attribute) const;
  Attributes attributesOf(const NodeProto& node, std::span<Value* const> inputs);
  void checkAttributes(const NodeProto& node, const Attributes& attributes) const;
  Attribute valueOf(const NodeProto& node, const AttributeProto& attribute, const GraphBuilder& scope);
  Ref<Graph> subgraph(Bytes bytes, const GraphBuilder& scope);
  Ref<Graph> subgraph(const GraphProto& proto, const GraphBuilder& scope, std::span<const TensorType> inputs);
  Ref<Graph> body(Bytes bytes, const GraphBuilder& scope, const BodyTypes& types);
  void addConstant(const NodeProto& node);
  Ref<Tensor> constantOf(const NodeProto& node, const AttributeProto& attribute, const char* place);
  static Ref<Tensor> listOf(const AttributeProto& attribute);
  template <class Make>
  Ref<Tensor> madeOnce(const char* place, std::string_view kind, Make make);
  Ref<Tensor> tensorOf(Bytes bytes);

  Shared& shared_;
  Graph& graph_;
  const GraphBuilder* outer_ = nullptr;
  const Call* call_ = nullptr;  // the enclosing function
  bool isBody_ = false;         // of a function: names differ from the graph's
  int depth_ = 0;
  NameViewMap<Value*> names_;
  std::vector<TensorType> declaredOutputs_;
  NameViewSet outputNames_;
};

}  // namespace max::onnx
