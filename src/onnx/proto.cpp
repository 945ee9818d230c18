// SPDX-License-Identifier: Apache-2.0
#include "onnx/proto.h"

#include <protozero/pbf_reader.hpp>

namespace max::onnx {

namespace {

using Reader = protozero::pbf_reader;
using WireType = protozero::pbf_wire_type;

std::string_view viewOf(const protozero::data_view& view) { return {view.data(), view.size()}; }

// Calls visit(reader) for each field; visit must read the field or return false to have it skipped.
template <class Visit>
void forEachField(Bytes bytes, Visit visit) {
  Reader reader(bytes.data(), bytes.size());
  while (reader.next())
    if (!visit(reader)) reader.skip();
}

// Repeated numbers may be packed or not, whatever the writer's syntax version.
void readInts(Reader& reader, std::vector<int64_t>& out) {
  if (reader.wire_type() != WireType::length_delimited) {
    out.push_back(reader.get_int64());
    return;
  }
  for (int64_t value : reader.get_packed_int64()) out.push_back(value);
}

void readFloats(Reader& reader, std::vector<float>& out) {
  if (reader.wire_type() != WireType::length_delimited) {
    out.push_back(reader.get_float());
    return;
  }
  for (float value : reader.get_packed_float()) out.push_back(value);
}

void readDoubles(Reader& reader, std::vector<double>& out) {
  if (reader.wire_type() != WireType::length_delimited) {
    out.push_back(reader.get_double());
    return;
  }
  for (double value : reader.get_packed_double()) out.push_back(value);
}

template <class T, class Parse>
T parse(const char* what, Bytes bytes, Parse parseField) {
  T message;
  try {
    forEachField(bytes, [&](Reader& reader) { return parseField(reader, message); });
  } catch (const protozero::exception&) {
    fail(MAX_STATUS_DATA_LOSS, "Malformed or truncated ", what);
  }
  return message;
}

std::pair<std::string_view, std::string_view> parseStringEntry(Bytes bytes) {
  std::pair<std::string_view, std::string_view> entry;
  forEachField(bytes, [&](Reader& reader) {
    if (reader.tag() == 1) return entry.first = viewOf(reader.get_view()), true;
    if (reader.tag() == 2) return entry.second = viewOf(reader.get_view()), true;
    return false;
  });
  return entry;
}

std::pair<std::string_view, int64_t> parseOpset(Bytes bytes) {
  std::pair<std::string_view, int64_t> opset;
  forEachField(bytes, [&](Reader& reader) {
    if (reader.tag() == 1) return opset.first = viewOf(reader.get_view()), true;
    if (reader.tag() == 2) return opset.second = reader.get_int64(), true;
    return false;
  });
  if (opset.first == "ai.onnx") opset.first = "";
  return opset;
}

DimensionProto parseDimension(Bytes bytes) {
  DimensionProto dim;
  forEachField(bytes, [&](Reader& reader) {
    if (reader.tag() == 1) {
      dim.value = reader.get_int64();
      dim.known = dim.value >= 0;
      return true;
    }
    if (reader.tag() == 2) return dim.symbol = viewOf(reader.get_view()), true;
    return false;
  });
  return dim;
}

void parseTensorType(Bytes bytes, ValueInfoProto& info) {
  info.kind = "tensor";
  forEachField(bytes, [&](Reader& reader) {
    if (reader.tag() == 1) return info.elementType = reader.get_int64(), true;
    if (reader.tag() != 2) return false;
    info.ranked = true;
    forEachField(viewOf(reader.get_view()), [&](Reader& shape) {
      if (shape.tag() != 1) return false;
      info.dims.push_back(parseDimension(viewOf(shape.get_view())));
      return true;
    });
    return true;
  });
}

void parseType(Bytes bytes, ValueInfoProto& info) {
  forEachField(bytes, [&](Reader& reader) {
    switch (reader.tag()) {
      case 1:
        parseTensorType(viewOf(reader.get_view()), info);
        return true;
      case 4:
        info.kind = "sequence";
        return false;
      case 5:
        info.kind = "map";
        return false;
      case 8:
        info.kind = "sparse tensor";
        return false;
      case 9:
        info.kind = "optional";
        return false;
      default:
        return false;
    }
  });
}

bool modelField(Reader& reader, ModelProto& model) {
  switch (reader.tag()) {
    case 1:
      model.irVersion = reader.get_int64();
      return true;
    case 2:
      model.producer = viewOf(reader.get_view());
      return true;
    case 7:
      model.graph = viewOf(reader.get_view());
      model.hasGraph = true;
      return true;
    case 8:
      model.opsets.push_back(parseOpset(viewOf(reader.get_view())));
      return true;
    case 14:
      model.metadata.push_back(parseStringEntry(viewOf(reader.get_view())));
      return true;
    case 25:
      ++model.functionCount;
      return false;
    default:
      return false;
  }
}

bool graphField(Reader& reader, GraphProto& graph) {
  switch (reader.tag()) {
    case 1:
      graph.nodes.push_back(viewOf(reader.get_view()));
      return true;
    case 2:
      graph.name = viewOf(reader.get_view());
      return true;
    case 5:
      graph.initializers.push_back(viewOf(reader.get_view()));
      return true;
    case 11:
      graph.inputs.push_back(viewOf(reader.get_view()));
      return true;
    case 12:
      graph.outputs.push_back(viewOf(reader.get_view()));
      return true;
    case 15:
      graph.hasSparseInitializers = true;
      return false;
    default:
      return false;
  }
}

bool nodeField(Reader& reader, NodeProto& node) {
  switch (reader.tag()) {
    case 1:
      node.inputs.push_back(viewOf(reader.get_view()));
      return true;
    case 2:
      node.outputs.push_back(viewOf(reader.get_view()));
      return true;
    case 3:
      node.name = viewOf(reader.get_view());
      return true;
    case 4:
      node.op = viewOf(reader.get_view());
      return true;
    case 5:
      node.attributes.push_back(parseAttribute(viewOf(reader.get_view())));
      return true;
    case 7:
      node.domain = viewOf(reader.get_view());
      return true;
    default:
      return false;
  }
}

bool attributeField(Reader& reader, AttributeProto& attribute) {
  switch (reader.tag()) {
    case 1:
      attribute.name = viewOf(reader.get_view());
      return true;
    case 2:
      attribute.f = reader.get_float();
      return true;
    case 3:
      attribute.i = reader.get_int64();
      return true;
    case 4:
      attribute.s = viewOf(reader.get_view());
      return true;
    case 5:
      attribute.t = viewOf(reader.get_view());
      return true;
    case 6:
      attribute.g = viewOf(reader.get_view());
      return true;
    case 7:
      readFloats(reader, attribute.floats);
      return true;
    case 8:
      readInts(reader, attribute.ints);
      return true;
    case 9:
      attribute.strings.push_back(viewOf(reader.get_view()));
      return true;
    case 11:
      attribute.graphs.push_back(viewOf(reader.get_view()));
      return true;
    case 20:
      attribute.type = reader.get_int64();
      return true;
    case 21:
      attribute.referenceName = viewOf(reader.get_view());
      return true;
    default:
      return false;
  }
}

bool tensorField(Reader& reader, TensorProto& tensor) {
  switch (reader.tag()) {
    case 1:
      readInts(reader, tensor.dims);
      return true;
    case 2:
      tensor.dataType = reader.get_int64();
      return true;
    case 4:
      readFloats(reader, tensor.floats);
      return true;
    case 5:
    case 7:
    case 11:
      readInts(reader, tensor.ints);
      return true;
    case 6:
      tensor.hasStrings = true;
      return false;
    case 8:
      tensor.name = viewOf(reader.get_view());
      return true;
    case 9:
      tensor.raw = viewOf(reader.get_view());
      tensor.hasRaw = true;
      return true;
    case 10:
      readDoubles(reader, tensor.doubles);
      return true;
    case 13:
      tensor.external.push_back(parseStringEntry(viewOf(reader.get_view())));
      return true;
    case 14:
      tensor.isExternal = reader.get_int64() == 1;
      return true;
    default:
      return false;
  }
}

}  // namespace

ModelProto parseModel(Bytes bytes) { return parse<ModelProto>("ONNX model", bytes, modelField); }
GraphProto parseGraph(Bytes bytes) { return parse<GraphProto>("graph", bytes, graphField); }
NodeProto parseNode(Bytes bytes) { return parse<NodeProto>("node", bytes, nodeField); }
AttributeProto parseAttribute(Bytes bytes) { return parse<AttributeProto>("attribute", bytes, attributeField); }
TensorProto parseTensor(Bytes bytes) { return parse<TensorProto>("tensor", bytes, tensorField); }

ValueInfoProto parseValueInfo(Bytes bytes) {
  return parse<ValueInfoProto>("value description", bytes, [](Reader& reader, ValueInfoProto& info) {
    if (reader.tag() == 1) return info.name = viewOf(reader.get_view()), true;
    if (reader.tag() == 2) return parseType(viewOf(reader.get_view()), info), true;
    return false;
  });
}

}  // namespace max::onnx
