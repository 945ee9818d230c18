// SPDX-License-Identifier: Apache-2.0
// Field numbers are those of onnx.proto. Value names are unique across all graphs, so that no subgraph's name hides an
// outer one.
#include "onnx/graph_writer.h"

#include <protozero/pbf_writer.hpp>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/align.h"
#include "base/name_map.h"
#include "base/object.h"
#include "graph/schema.h"
#include "graph/subgraphs.h"
#include "onnx/proto.h"

namespace max::onnx {

namespace {

using Writer = protozero::pbf_writer;

constexpr size_t kInlineBytes = 256;
// For operators outside ONNX's own domain, where nothing depends on the version.
constexpr int64_t kOtherVersion = 1000;

void writeDims(Writer& shape, const SymbolicShape& dims) {
  for (const Dim& each : dims) {
    std::string bytes;
    Writer dim(bytes);
    if (each.isKnown())
      dim.add_int64(1, each.value());
    else if (!each.symbolName().empty())
      dim.add_string(2, each.symbolName().data(), each.symbolName().size());
    shape.add_message(1, bytes);
  }
}

std::string typeProto(const TensorType& type);

// A sequence, optional or map is a message in a message, as deep as types go (InnerTypes).
std::string objectProto(const TensorType& type) {
  std::string holder;
  Writer inner(holder);
  if (type.dtype == DType::Map) {
    inner.add_int64(1, onnxFromDType(type.inner[0]));
    inner.add_message(2, typeProto(type.held()));
  } else {
    inner.add_message(1, typeProto(type.held()));
  }
  return holder;
}

std::string typeProto(const TensorType& type) {
  std::string bytes;
  Writer proto(bytes);
  if (isObject(type.dtype)) {
    proto.add_message(type.dtype == DType::Sequence ? 4 : type.dtype == DType::Map ? 5 : 9, objectProto(type));
    return bytes;
  }
  std::string tensor;
  Writer tensorType(tensor);
  if (type.dtype != DType::Invalid) tensorType.add_int64(1, onnxFromDType(type.dtype));
  if (type.ranked) {
    std::string dims;
    Writer shape(dims);
    writeDims(shape, type.dims);
    tensorType.add_message(2, dims);
  }
  proto.add_message(1, tensor);
  return bytes;
}

std::string valueInfo(const std::string& name, const TensorType& type) {
  std::string bytes;
  Writer info(bytes);
  info.add_string(1, name);
  info.add_message(2, typeProto(type));
  return bytes;
}

void addEntry(Writer& writer, const char* key, const std::string& value) {
  std::string bytes;
  Writer entry(bytes);
  entry.add_string(1, key);
  entry.add_string(2, value);
  writer.add_message(13, bytes);
}

class GraphWriter {
 public:
  GraphWriter(const std::vector<TensorType>& declaredOutputs, StoredTensors& tensors)
      : declaredOutputs_(declaredOutputs), tensors_(tensors) {}

  std::string write(const Graph& graph) {
    nameMain(graph);
    return graphProto(graph, true);
  }

  const std::set<std::string, std::less<>>& domains() const { return domains_; }

 private:
  // Values that callers know by name keep it.
  void nameMain(const Graph& graph) {
    for (const Value* input : graph.inputs()) keepName(*input, input->name);
    for (const Node* node : graph.nodes())
      for (const Value* input : node->inputs)
        if (input && input->isWeight && input->graph == &graph) keepName(*input, input->name);
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      if (graph.outputs()[i]->producer && !names_.count(graph.outputs()[i]))
        keepName(*graph.outputs()[i], graph.outputNames()[i]);
  }

  void keepName(const Value& value, const std::string& name) {
    if (names_.emplace(&value, name).second) taken_.insert(name);
  }

  const std::string& nameOf(const Value& value) {
    std::string& name = names_[&value];
    while (name.empty()) {
      std::string candidate = concat("%", ++counter_);
      if (!taken_.count(candidate)) name = std::move(candidate);
    }
    return name;
  }

  std::string graphProto(const Graph& graph, bool isMain) {
    std::string bytes;
    Writer writer(bytes);
    writer.add_string(2, graph.name());
    for (const Value* input : graph.inputs()) writer.add_message(11, valueInfo(nameOf(*input), input->type));
    writeLeaves(graph, writer, isMain);
    for (const Node* node : graph.nodes()) writer.add_message(1, nodeProto(*node));
    for (size_t i = 0; i < graph.outputs().size(); ++i) writeOutput(graph, i, writer, isMain);
    return bytes;
  }

  // Constants that this graph's nodes and outputs use, before any node.
  void writeLeaves(const Graph& graph, Writer& writer, bool isMain) {
    const auto write = [&](const Value* value) {
      if (!value || !value->constant || value->producer || !written_.insert(value).second) return;
      if (isMain && value->isWeight && value->graph == &graph)
        writer.add_message(5, tensorProto(*value->constant, nameOf(*value)));
      else
        writer.add_message(1, constantNode(*value));
    };
    for (const Node* node : graph.nodes()) {
      for (const Value* input : node->inputs)
        if (input && input->graph == &graph) write(input);
      for (const Value* value : capturedBy(*node))
        if (value->graph == &graph) write(value);
    }
    for (const Value* output : graph.outputs()) write(output);
  }

  std::string constantNode(const Value& value) {
    std::string bytes;
    Writer node(bytes);
    node.add_string(2, nameOf(value));
    node.add_string(4, "Constant");
    node.add_message(5, attributeProto("value", value.constant));
    return bytes;
  }

  // An output with another name, or not made by a node, is a copy.
  void writeOutput(const Graph& graph, size_t index, Writer& writer, bool isMain) {
    const Value& value = *graph.outputs()[index];
    TensorType type = value.type;
    if (isMain && index < declaredOutputs_.size()) {
      if (!type.ranked) type = declaredOutputs_[index];
      takeNames(type, declaredOutputs_[index]);
    }
    const std::string name = isMain ? graph.outputNames()[index] : concat(nameOf(value));
    if (name != nameOf(value)) {
      std::string bytes;
      Writer node(bytes);
      node.add_string(1, nameOf(value));
      node.add_string(2, name);
      node.add_string(4, "Identity");
      writer.add_message(1, bytes);
    }
    writer.add_message(12, valueInfo(name, type));
  }

  std::string nodeProto(const Node& node) {
    std::string bytes;
    Writer writer(bytes);
    for (const Value* input : node.inputs) writer.add_string(1, input ? nameOf(*input) : std::string());
    for (const Value* output : node.outputs) writer.add_string(2, output ? nameOf(*output) : std::string());
    writer.add_string(3, node.name);
    writer.add_string(4, std::string(node.op()));
    writer.add_string(7, std::string(node.domain()));
    domains_.emplace(node.domain());
    for (const auto& [name, value] : node.attributes.entries()) writer.add_message(5, attributeProto(name, value));
    if (!node.sources.empty()) writer.add_message(5, attributeProto(kSourcesAttribute, node.sources));
    return bytes;
  }

  std::string attributeProto(std::string_view name, const Attribute& value) {
    std::string bytes;
    Writer writer(bytes);
    writer.add_string(1, name.data(), name.size());
    std::visit([&](const auto& each) { writer.add_int64(20, writeValue(writer, each)); }, value);
    return bytes;
  }

  // Each returns the type's number.
  int64_t writeValue(Writer& writer, float value) { return writer.add_float(2, value), 1; }
  int64_t writeValue(Writer& writer, int64_t value) { return writer.add_int64(3, value), 2; }
  int64_t writeValue(Writer& writer, const std::string& value) { return writer.add_bytes(4, value), 3; }
  int64_t writeValue(Writer& writer, const Ref<Tensor>& value) {
    if (value) writer.add_message(5, tensorProto(*value, ""));
    return 4;
  }
  int64_t writeValue(Writer& writer, const Ref<Graph>& value) {
    if (value) writer.add_message(6, graphProto(*value, false));
    return 5;
  }
  int64_t writeValue(Writer& writer, const std::vector<float>& value) {
    return writer.add_packed_float(7, value.begin(), value.end()), 6;
  }
  int64_t writeValue(Writer& writer, const std::vector<int64_t>& value) {
    return writer.add_packed_int64(8, value.begin(), value.end()), 7;
  }
  int64_t writeValue(Writer& writer, const std::vector<std::string>& value) {
    for (const std::string& each : value) writer.add_bytes(9, each);
    return 8;
  }
  int64_t writeValue(Writer& writer, const std::vector<Ref<Graph>>& value) {
    for (const Ref<Graph>& each : value) writer.add_message(11, graphProto(*each, false));
    return 10;
  }

  std::string tensorProto(const Tensor& tensor, const std::string& name) {
    require(!isObject(tensor.dtype()), MAX_STATUS_UNIMPLEMENTED,
            "A constant sequence, optional or map cannot be saved in a compiled model");
    std::string bytes;
    Writer writer(bytes);
    const auto dims = tensor.shape().dims();
    if (!dims.empty()) writer.add_packed_int64(1, dims.begin(), dims.end());
    writer.add_int64(2, onnxFromDType(tensor.dtype()));
    if (!name.empty()) writer.add_string(8, name);
    if (tensor.dtype() == DType::String) {
      for (const std::string_view text : textsOf(tensor)) writer.add_bytes(6, text.data(), text.size());
    } else if (tensor.bytes() <= kInlineBytes) {
      writer.add_bytes(9, static_cast<const char*>(tensor.data()), tensor.bytes());
    } else {
      addEntry(writer, "offset", std::to_string(tensors_.add(tensor)));
      writer.add_int64(14, 1);
    }
    return bytes;
  }

  const std::vector<TensorType>& declaredOutputs_;
  StoredTensors& tensors_;
  std::unordered_map<const Value*, std::string> names_;
  NameSet taken_;
  std::unordered_set<const Value*> written_;
  std::set<std::string, std::less<>> domains_{""};
  size_t counter_ = 0;
};

}  // namespace

uint64_t StoredTensors::add(const Tensor& tensor) {
  const auto [entry, isNew] = offsets.try_emplace(&tensor, size);
  if (!isNew) return entry->second;
  list.push_back({Ref<const Tensor>(&tensor), size});
  size += alignUp(tensor.bytes(), kTensorAlignment);
  return entry->second;
}

std::string writeModel(const Graph& graph, const std::vector<TensorType>& declaredOutputs, const ModelInfo& info,
                       const KernelCodes& kernels, StoredTensors& tensors) {
  GraphWriter writer(declaredOutputs, tensors);
  const std::string proto = writer.write(graph);
  std::string bytes;
  Writer model(bytes);
  model.add_int64(1, info.irVersion);
  model.add_string(2, info.producer);
  model.add_message(7, proto);
  for (const std::string& domain : writer.domains()) {
    std::string entry;
    Writer opset(entry);
    opset.add_string(1, domain);
    opset.add_int64(2, domain.empty() ? kMaxOpset : kOtherVersion);
    model.add_message(8, entry);
  }
  for (const KernelCode& kernel : kernels) {
    std::string entry;
    Writer fields(entry);
    fields.add_string(1, kernel.chip);
    fields.add_string(2, kernel.source);
    fields.add_bytes(3, kernel.code);
    model.add_message(kKernelsField, entry);
  }
  return bytes;
}

}  // namespace max::onnx
