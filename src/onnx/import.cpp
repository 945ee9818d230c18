// SPDX-License-Identifier: Apache-2.0
#include "onnx/import.h"

#include <functional>
#include <unordered_map>

#include "graph/schema.h"
#include "onnx/opset.h"
#include "onnx/proto.h"
#include "onnx/tensor_reader.h"

namespace max {

namespace onnx {

namespace {

// Depth of subgraphs within subgraphs; deeper files are not models but attacks on the stack.
constexpr int kMaxGraphDepth = 32;

std::string_view plainDomain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

void checkDepth(int depth) {
  require(depth < kMaxGraphDepth, MAX_STATUS_INVALID_ARGUMENT, "Subgraphs are nested more than ", kMaxGraphDepth,
          " deep");
}

Bytes bytesOf(const Storage& file) { return {static_cast<const char*>(file.data()), file.size()}; }

ModelProto readModel(const Storage& file) {
  require(file.size() > 0, MAX_STATUS_DATA_LOSS, "The file is empty");
  ModelProto model;
  try {
    model = parseModel(bytesOf(file));
  } catch (const Error&) {
    fail(MAX_STATUS_DATA_LOSS, "Not an ONNX model, or truncated (", file.size(), " bytes)");
  }
  require(model.hasGraph && !model.opsets.empty(), MAX_STATUS_DATA_LOSS, "Not an ONNX model: it holds no ",
          model.hasGraph ? "operator set" : "graph", " (", file.size(), " bytes)");
  return model;
}

// Collects what a model needs, before anything is built.
class Inspector {
 public:
  Inspector(const ModelProto& model, const ImportOptions& options) : model_(model), options_(options) {
    info_.irVersion = model.irVersion;
    info_.producer = model.producer;
    for (const auto& [domain, version] : model.opsets)
      info_.opsets.emplace_back(domain.empty() ? "ai.onnx" : std::string(domain), version);
  }

  ModelInfo run() {
    visitGraph(model_.graph, 0);
    return std::move(info_);
  }

 private:
  void visitGraph(Bytes bytes, int depth) {
    checkDepth(depth);
    const GraphProto graph = parseGraph(bytes);
    for (Bytes initializer : graph.initializers) countParameters(parseTensor(initializer));
    for (Bytes node : graph.nodes) visitNode(parseNode(node), depth);
  }

  void countParameters(const TensorProto& tensor) {
    int64_t count = 1;
    for (int64_t dim : tensor.dims) count = checkedMultiply(count, dim);
    info_.parameters = checkedAdd(info_.parameters, count);
  }

  void visitNode(const NodeProto& node, int depth) {
    const std::string_view domain = plainDomain(node.domain);
    ++info_.operators[displayName(domain, node.op)];
    if (!isSupported(domain, node.op)) addUnsupported(node, domain);
    for (const AttributeProto& attribute : node.attributes) {
      if (!attribute.g.empty()) visitGraph(attribute.g, depth + 1);
      for (Bytes graph : attribute.graphs) visitGraph(graph, depth + 1);
    }
  }

  bool isSupported(std::string_view domain, std::string_view op) const {
    if (domain.empty() && op == "Constant") return true;
    if (domain == kMaxDomain) return false;  // our own operators are no interchange format
    const std::string_view name = newestName(domain, op);
    return findSchema(domain, name) && (!options_.isSupported || options_.isSupported(domain, name));
  }

  void addUnsupported(const NodeProto& node, std::string_view domain) {
    int64_t version = 0;
    for (const auto& [name, number] : model_.opsets)
      if (name == domain) version = number;
    info_.unsupported.push_back(
        {std::string(node.name), domain.empty() ? "ai.onnx" : std::string(domain), std::string(node.op), version});
  }

  const ModelProto& model_;
  const ImportOptions& options_;
  ModelInfo info_;
};

std::string listUnsupported(const std::vector<UnsupportedNode>& nodes) {
  constexpr size_t kListed = 20;
  std::string text =
      concat(nodes.size(), nodes.size() == 1 ? " node has" : " nodes have", " an unsupported operator: ");
  for (size_t i = 0; i < nodes.size() && i < kListed; ++i) {
    const UnsupportedNode& node = nodes[i];
    text += concat(i ? "; " : "", "'", node.name, "' (", node.op, ", domain ", node.domain, ", version ", node.version,
                   ")");
  }
  if (nodes.size() > kListed) text += concat("; and ", nodes.size() - kListed, " more");
  return text;
}

// Builds one graph; subgraphs get a builder of their own that looks names up here too.
class GraphBuilder {
 public:
  struct Shared {
    const ModelProto& model;
    TensorReader tensors;
    int64_t versionOf(std::string_view domain) const {
      for (const auto& [name, version] : model.opsets)
        if (name == domain) return version;
      return 0;
    }
  };

  GraphBuilder(Shared& shared, Graph& graph, const GraphBuilder* outer, int depth)
      : shared_(shared), graph_(graph), outer_(outer), depth_(depth) {
    checkDepth(depth);
  }

  void build(const GraphProto& proto) {
    require(!proto.hasSparseInitializers, MAX_STATUS_UNIMPLEMENTED, "Sparse initialisers are not supported");
    addInitializers(proto);
    for (Bytes input : proto.inputs) addInput(parseValueInfo(input));
    for (Bytes node : proto.nodes) addNode(parseNode(node));
    for (Bytes output : proto.outputs) addOutput(parseValueInfo(output));
    graph_.sort();
  }

  const std::vector<TensorType>& declaredOutputs() const { return declaredOutputs_; }

 private:
  // The graph has refused names that are used twice.
  void define(std::string_view name, Value* value) { names_.emplace(name, value); }

  Value* find(std::string_view name) const {
    for (const GraphBuilder* scope = this; scope; scope = scope->outer_) {
      const auto entry = scope->names_.find(name);
      if (entry != scope->names_.end()) return entry->second;
    }
    return nullptr;
  }

  void addInitializers(const GraphProto& proto) {
    for (Bytes bytes : proto.initializers) {
      const TensorProto tensor = parseTensor(bytes);
      Ref<Tensor> contents = shared_.tensors.read(tensor);
      define(tensor.name, graph_.addWeight(tensor.name, contents->dtype(), contents->shape(), contents));
    }
  }

  TensorType typeOf(const ValueInfoProto& info) {
    const std::optional<DType> dtype = dtypeFromOnnx(info.elementType);
    TensorType type = TensorType::unranked(dtype.value_or(DType::Invalid));
    type.ranked = info.ranked;
    for (const DimensionProto& dim : info.dims) {
      if (dim.known)
        type.dims.emplace_back(dim.value);
      else
        type.dims.push_back(dim.symbol.empty() ? graph_.dimTable().unknown() : graph_.dimTable().symbol(dim.symbol));
    }
    return type;
  }

  void addInput(const ValueInfoProto& info) {
    if (names_.count(info.name)) return;  // an initialiser with the same name is its value
    if (info.kind != "tensor" && !(depth_ > 0 && info.kind.empty()))
      fail(MAX_STATUS_UNIMPLEMENTED, "Input '", info.name, "' is a ",
           info.kind.empty() ? "value without type" : info.kind, "; only tensors are supported");
    const TensorType type = typeOf(info);
    require(type.dtype != DType::Invalid || depth_ > 0, MAX_STATUS_UNIMPLEMENTED, "Input '", info.name,
            "' has the unknown data type number ", info.elementType);
    define(info.name, graph_.addInput(info.name, type));
  }

  void addOutput(const ValueInfoProto& info) {
    Value* value = find(info.name);
    if (!value) invalidArgument("Output '", info.name, "' of graph '", graph_.name(), "' is not made by any node");
    graph_.addOutput(value, info.name);
    declaredOutputs_.push_back(typeOf(info));
  }

  Value* inputOf(const NodeProto& node, std::string_view name) const {
    if (name.empty()) return nullptr;
    Value* value = find(name);
    if (!value)
      invalidArgument("node '", node.name, "' (", node.op, "): its input '", name,
                      "' is not made by any node before it");
    return value;
  }

  void addNode(const NodeProto& proto) {
    if (plainDomain(proto.domain).empty() && proto.op == "Constant") return addConstant(proto);
    PendingNode node{graph_,
                     std::string(plainDomain(proto.domain)),
                     std::string(proto.op),
                     std::string(proto.name),
                     shared_.versionOf(plainDomain(proto.domain)),
                     {},
                     attributesOf(proto),
                     {proto.outputs.begin(), proto.outputs.end()}};
    for (std::string_view name : proto.inputs) node.inputs.push_back(inputOf(proto, name));
    normalise(node);
    const OpSchema* schema = findSchema(node.domain, node.op);
    require(schema, MAX_STATUS_UNIMPLEMENTED, "node '", proto.name, "': operator ", displayName(node.domain, node.op),
            " is not supported");
    const Node* made =
        graph_.addNode(*schema, std::move(node.inputs), std::move(node.attributes), node.outputs, std::move(node.name));
    for (size_t i = 0; i < proto.outputs.size() && i < made->outputs.size(); ++i)
      if (!proto.outputs[i].empty()) define(proto.outputs[i], made->outputs[i]);
  }

  Attributes attributesOf(const NodeProto& node) {
    Attributes attributes;
    for (const AttributeProto& attribute : node.attributes) attributes.set(attribute.name, valueOf(node, attribute));
    return attributes;
  }

  Attribute valueOf(const NodeProto& node, const AttributeProto& attribute) {
    switch (attribute.type) {
      case 1:
        return attribute.f;
      case 2:
        return attribute.i;
      case 3:
        return std::string(attribute.s);
      case 4:
        return shared_.tensors.read(parseTensor(attribute.t));
      case 5:
        return subgraph(attribute.g);
      case 6:
        return attribute.floats;
      case 7:
        return attribute.ints;
      case 8:
        return std::vector<std::string>(attribute.strings.begin(), attribute.strings.end());
      case 10: {
        std::vector<Ref<Graph>> graphs;
        for (Bytes graph : attribute.graphs) graphs.push_back(subgraph(graph));
        return graphs;
      }
      default:
        fail(MAX_STATUS_UNIMPLEMENTED, "node '", node.name, "' (", node.op, "): attribute '", attribute.name,
             "' has the unsupported type number ", attribute.type);
    }
  }

  Ref<Graph> subgraph(Bytes bytes) {
    const GraphProto proto = parseGraph(bytes);
    Ref<Graph> graph = makeRef<Graph>(graph_, std::string(proto.name));
    GraphBuilder(shared_, *graph, this, depth_ + 1).build(proto);
    return graph;
  }

  void addConstant(const NodeProto& node) {
    if (node.outputs.size() != 1 || node.attributes.size() != 1)
      invalidArgument("node '", node.name, "' (Constant): needs one output and one attribute");
    define(node.outputs[0], graph_.addConstant(constantOf(node, node.attributes[0]), node.outputs[0]));
  }

  Ref<Tensor> constantOf(const NodeProto& node, const AttributeProto& attribute) {
    const Shape list{static_cast<int64_t>(std::max(attribute.ints.size(), attribute.floats.size()))};
    if (attribute.name == "value") return shared_.tensors.read(parseTensor(attribute.t));
    if (attribute.name == "value_int") return Tensor::copyOf(DType::Int64, Shape{}, &attribute.i);
    if (attribute.name == "value_float") return Tensor::copyOf(DType::Float32, Shape{}, &attribute.f);
    if (attribute.name == "value_ints") return Tensor::copyOf(DType::Int64, list, attribute.ints.data());
    if (attribute.name == "value_floats") return Tensor::copyOf(DType::Float32, list, attribute.floats.data());
    fail(MAX_STATUS_UNIMPLEMENTED, "node '", node.name, "' (Constant): attribute '", attribute.name,
         "' is not supported");
  }

  Shared& shared_;
  Graph& graph_;
  const GraphBuilder* outer_;
  int depth_;
  std::unordered_map<std::string_view, Value*> names_;
  std::vector<TensorType> declaredOutputs_;
};

void checkOpsets(const ModelProto& model) {
  for (const auto& [domain, version] : model.opsets)
    if (domain.empty() && (version < kMinOpset || version > kMaxOpset))
      fail(MAX_STATUS_UNIMPLEMENTED, "Opset ", version, " of ai.onnx is not supported (", kMinOpset, " to ", kMaxOpset,
           " are)");
}

// Errors from below know the node or tensor; the source is added here, once.
template <class Function>
auto withSource(const ImportOptions& options, Function function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.status(), concat(options.source, ": ", error.message()));
  }
}

}  // namespace
}  // namespace onnx

std::string displayName(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : concat(domain, ".", op);
}

ModelInfo inspectOnnx(const Ref<Storage>& file, const ImportOptions& options) {
  return onnx::withSource(options, [&] {
    const onnx::ModelProto model = onnx::readModel(*file);
    return onnx::Inspector(model, options).run();
  });
}

ImportedModel importOnnx(const Ref<Storage>& file, const ImportOptions& options) {
  return onnx::withSource(options, [&] {
    const onnx::ModelProto model = onnx::readModel(*file);
    ImportedModel imported;
    imported.info = onnx::Inspector(model, options).run();
    onnx::checkOpsets(model);
    if (!imported.info.unsupported.empty())
      fail(MAX_STATUS_UNIMPLEMENTED, onnx::listUnsupported(imported.info.unsupported));
    onnx::GraphBuilder::Shared shared{model, onnx::TensorReader(file, options.folder)};
    const onnx::GraphProto proto = onnx::parseGraph(model.graph);
    imported.graph = makeRef<Graph>(std::string(proto.name));
    onnx::GraphBuilder builder(shared, *imported.graph, nullptr, 0);
    builder.build(proto);
    imported.declaredOutputs = builder.declaredOutputs();
    return imported;
  });
}

}  // namespace max
