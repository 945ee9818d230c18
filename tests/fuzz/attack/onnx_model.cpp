// SPDX-License-Identifier: Apache-2.0
// Field numbers are those of onnx.proto.
#include "attack/onnx_model.h"

#include <cstring>
#include <protozero/pbf_writer.hpp>

#include "onnx/proto.h"

namespace attack {

namespace {

using Writer = protozero::pbf_writer;
using max::onnx::Bytes;

constexpr std::string_view kFeed = "feed:";  // before the input's name, in metadata

std::string write(const TensorData& tensor) {
  std::string bytes;
  Writer writer(bytes);
  for (const int64_t dim : tensor.dims) writer.add_int64(1, dim);
  writer.add_int64(2, tensor.type);
  for (const std::string& text : tensor.strings) writer.add_bytes(6, text);
  writer.add_string(8, tensor.name);
  if (tensor.strings.empty()) writer.add_bytes(9, tensor.raw);
  return bytes;
}

std::string write(const ValueData& value) {
  std::string bytes, type, tensor, shape;
  Writer writer(bytes);
  writer.add_string(1, value.name);
  if (!value.other.empty()) writer.add_message(2, value.other);
  if (!value.other.empty() || value.type == 0) return bytes;
  Writer(tensor).add_int64(1, value.type);
  for (const DimensionData& each : value.dims) {
    std::string dim;
    if (each.known)
      Writer(dim).add_int64(1, each.value);
    else if (!each.symbol.empty())
      Writer(dim).add_string(2, each.symbol);
    Writer(shape).add_message(1, dim);
  }
  if (value.ranked) Writer(tensor).add_message(2, shape);
  Writer(type).add_message(1, tensor);
  writer.add_message(2, type);
  return bytes;
}

std::string write(const GraphData& graph);

std::string write(const AttributeData& attribute) {
  std::string bytes;
  Writer writer(bytes);
  writer.add_string(1, attribute.name);
  if (attribute.type == 1) writer.add_float(2, attribute.f);
  if (attribute.type == 2) writer.add_int64(3, attribute.i);
  if (attribute.type == 3) writer.add_bytes(4, attribute.s);
  if (attribute.type == 4) writer.add_message(5, write(attribute.t));
  if (attribute.type == 5 && attribute.g) writer.add_message(6, write(*attribute.g));
  if (attribute.type == 6) writer.add_packed_float(7, attribute.floats.begin(), attribute.floats.end());
  if (attribute.type == 7) writer.add_packed_int64(8, attribute.ints.begin(), attribute.ints.end());
  if (attribute.type == 8)
    for (const std::string& text : attribute.strings) writer.add_bytes(9, text);
  if (attribute.type == 13) writer.add_message(14, attribute.typeProto);
  if (!attribute.reference.empty()) writer.add_string(21, attribute.reference);
  writer.add_int64(20, attribute.type);
  return bytes;
}

std::string write(const NodeData& node) {
  std::string bytes;
  Writer writer(bytes);
  for (const std::string& name : node.inputs) writer.add_string(1, name);
  for (const std::string& name : node.outputs) writer.add_string(2, name);
  writer.add_string(3, node.name);
  writer.add_string(4, node.op);
  for (const AttributeData& attribute : node.attributes) writer.add_message(5, write(attribute));
  writer.add_string(7, node.domain);
  return bytes;
}

std::string write(const GraphData& graph) {
  std::string bytes;
  Writer writer(bytes);
  for (const NodeData& node : graph.nodes) writer.add_message(1, write(node));
  writer.add_string(2, graph.name);
  for (const TensorData& tensor : graph.initializers) writer.add_message(5, write(tensor));
  for (const ValueData& input : graph.inputs) writer.add_message(11, write(input));
  for (const ValueData& output : graph.outputs) writer.add_message(12, write(output));
  return bytes;
}

template <class Add>
void writeOpsets(const Opsets& opsets, Add add) {
  for (const auto& [domain, version] : opsets) {
    std::string bytes;
    Writer writer(bytes);
    writer.add_string(1, domain);
    writer.add_int64(2, version);
    add(bytes);
  }
}

std::string write(const FunctionData& function) {
  std::string bytes;
  Writer writer(bytes);
  writer.add_string(1, function.name);
  for (const std::string& name : function.inputs) writer.add_string(4, name);
  for (const std::string& name : function.outputs) writer.add_string(5, name);
  for (const std::string& name : function.attributes) writer.add_string(6, name);
  for (const NodeData& node : function.nodes) writer.add_message(7, write(node));
  writeOpsets(function.opsets, [&](const std::string& opset) { writer.add_message(9, opset); });
  writer.add_string(10, function.domain);
  for (const AttributeData& attribute : function.defaults) writer.add_message(11, write(attribute));
  return bytes;
}

std::vector<std::string> textsOf(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

template <class T>
void append(std::string& raw, T value) {
  raw.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Elements that lie in fields of their own become raw ones; those narrower than their field are rare.
void takeElements(TensorData& tensor, const max::onnx::TensorProto& proto) {
  for (const std::string_view text : proto.strings) tensor.strings.emplace_back(text);
  for (const float value : proto.floats) append(tensor.raw, value);
  for (const double value : proto.doubles) append(tensor.raw, value);
  for (const int64_t value : proto.ints) {
    const auto dtype = max::dtypeFromOnnx(proto.dataType);
    const size_t size = dtype ? max::sizeOf(*dtype) : 8;
    tensor.raw.append(reinterpret_cast<const char*>(&value), std::min<size_t>(size, 8));
  }
}

GraphData graphFrom(Bytes bytes);

AttributeData attributeFrom(const max::onnx::AttributeProto& proto) {
  AttributeData attribute;
  attribute.name = proto.name;
  attribute.type = proto.type;
  attribute.reference = proto.referenceName;
  attribute.f = proto.f;
  attribute.i = proto.i;
  attribute.s = proto.s;
  attribute.floats = proto.floats;
  attribute.ints = proto.ints;
  attribute.strings = textsOf(proto.strings);
  attribute.typeProto = proto.typeProto;
  if (proto.type == 4) attribute.t = readTensor(proto.t);
  if (proto.type == 5) attribute.g = std::make_shared<GraphData>(graphFrom(proto.g));
  return attribute;
}

NodeData nodeFrom(Bytes bytes) {
  const max::onnx::NodeProto proto = max::onnx::parseNode(bytes);
  NodeData node{textsOf(proto.inputs), textsOf(proto.outputs),    std::string(proto.name),
                std::string(proto.op), std::string(proto.domain), {}};
  for (const auto& attribute : proto.attributes) node.attributes.push_back(attributeFrom(attribute));
  return node;
}

// The TypeProto in a ValueInfoProto, as bytes.
std::string typeBytes(Bytes bytes) {
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < bytes.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= static_cast<uint64_t>(byte & 127u) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < bytes.size()) {
    const uint64_t key = varint(), size = varint();
    if ((key & 7) != 2 || size > bytes.size() - at) return {};
    if (key >> 3 == 2) return std::string(bytes.substr(at, size));
    at += size;
  }
  return {};
}

ValueData valueFrom(Bytes bytes) {
  const max::onnx::ValueInfoProto proto = max::onnx::parseValueInfo(bytes);
  ValueData value;
  value.name = proto.name;
  if (proto.kind != "tensor") {
    value.other = typeBytes(bytes);
    return value;
  }
  value.type = proto.elementType;
  value.ranked = proto.ranked;
  for (const auto& dim : proto.dims) value.dims.push_back({dim.known, dim.value, std::string(dim.symbol)});
  return value;
}

GraphData graphFrom(Bytes bytes) {
  const max::onnx::GraphProto proto = max::onnx::parseGraph(bytes);
  GraphData graph;
  graph.name = proto.name;
  for (const Bytes node : proto.nodes) graph.nodes.push_back(nodeFrom(node));
  for (const Bytes tensor : proto.initializers) graph.initializers.push_back(readTensor(tensor));
  for (const Bytes value : proto.inputs) graph.inputs.push_back(valueFrom(value));
  for (const Bytes value : proto.outputs) graph.outputs.push_back(valueFrom(value));
  return graph;
}

FunctionData functionFrom(Bytes bytes) {
  const max::onnx::FunctionProto proto = max::onnx::parseFunction(bytes);
  FunctionData function;
  function.name = proto.name;
  function.domain = proto.domain;
  function.inputs = textsOf(proto.inputs);
  function.outputs = textsOf(proto.outputs);
  for (const auto& attribute : proto.defaults) function.defaults.push_back(attributeFrom(attribute));
  for (const Bytes node : proto.nodes) function.nodes.push_back(nodeFrom(node));
  for (const auto& [domain, version] : proto.opsets) function.opsets.emplace_back(domain, version);
  return function;
}

void separate(std::vector<NodeData>& nodes) {
  for (NodeData& node : nodes)
    for (AttributeData& attribute : node.attributes)
      if (attribute.g) attribute.g = std::make_shared<GraphData>(copyOf(*attribute.g));
}

void collect(std::vector<NodeData>& nodes, std::vector<GraphData*>& graphs) {
  for (NodeData& node : nodes)
    for (AttributeData& attribute : node.attributes)
      if (attribute.g) {
        graphs.push_back(attribute.g.get());
        collect(attribute.g->nodes, graphs);
      }
}

}  // namespace

TensorData readTensor(std::string_view bytes) {
  const max::onnx::TensorProto proto = max::onnx::parseTensor(bytes);
  TensorData tensor;
  tensor.name = proto.name;
  tensor.type = proto.dataType;
  tensor.dims = proto.dims;
  tensor.raw = proto.raw;
  if (!proto.hasRaw) takeElements(tensor, proto);
  return tensor;
}

std::string writeModel(const ModelData& model) {
  std::string bytes;
  Writer writer(bytes);
  writer.add_int64(1, model.irVersion);
  writer.add_message(7, write(model.graph));
  writeOpsets(model.opsets, [&](const std::string& opset) { writer.add_message(8, opset); });
  for (const TensorData& feed : model.feeds) {
    std::string entry;
    Writer metadata(entry);
    metadata.add_string(1, std::string(kFeed) + feed.name);
    metadata.add_bytes(2, write(feed));
    writer.add_message(14, entry);
  }
  for (const FunctionData& function : model.functions) writer.add_message(25, write(function));
  return bytes;
}

ModelData readModel(std::string_view bytes) {
  const max::onnx::ModelProto proto = max::onnx::parseModel(bytes);
  ModelData model;
  model.irVersion = proto.irVersion;
  for (const auto& [domain, version] : proto.opsets) model.opsets.emplace_back(domain, version);
  model.graph = graphFrom(proto.graph);
  for (const Bytes function : proto.functions) model.functions.push_back(functionFrom(function));
  for (const auto& [key, value] : proto.metadata)
    if (key.starts_with(kFeed)) model.feeds.push_back(readTensor(value));
  return model;
}

std::vector<GraphData*> graphsOf(GraphData& graph) {
  std::vector<GraphData*> graphs{&graph};
  collect(graph.nodes, graphs);
  return graphs;
}

std::vector<GraphData*> graphsOf(ModelData& model) {
  std::vector<GraphData*> graphs = graphsOf(model.graph);
  for (FunctionData& function : model.functions) collect(function.nodes, graphs);
  return graphs;
}

GraphData copyOf(const GraphData& graph) {
  GraphData copy = graph;
  separate(copy.nodes);
  return copy;
}

ModelData copyOf(const ModelData& model) {
  ModelData copy = model;
  separate(copy.graph.nodes);
  for (FunctionData& function : copy.functions) separate(function.nodes);
  return copy;
}

int64_t countOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims)
    if (dim == 0) return 0;
  for (const int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > (int64_t{1} << 24)) return -1;
  return count;
}

}  // namespace attack
