// SPDX-License-Identifier: Apache-2.0
#include "onnx/proto.h"

#include <protozero/exception.hpp>
// A field with the wrong wire type is damage like any other, not an assertion failure.
#define protozero_assert(condition) ((condition) ? void() : throw protozero::unknown_pbf_wire_type_exception{})
#include <protozero/pbf_reader.hpp>
#include <tuple>

namespace max::onnx {

namespace {

using Reader = protozero::pbf_reader;
using WireType = protozero::pbf_wire_type;

std::string_view viewOf(const protozero::data_view& view) { return {view.data(), view.size()}; }

// Calls visit(reader) for each field; visit must read the field or return false to skip it.
template <class Visit>
void forEachField(Bytes bytes, Visit visit) {
  Reader reader(bytes.data(), bytes.size());
  while (reader.next())
    if (!visit(reader)) reader.skip();
}

// Repeated numbers may be packed or not in any syntax version.
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
  opset.first = plainDomain(opset.first);
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

DType dtypeOf(int64_t number) { return dtypeFromOnnx(number).value_or(DType::Invalid); }

DType tensorElement(Bytes bytes) {
  DType dtype = DType::Invalid;
  forEachField(bytes, [&](Reader& reader) {
    if (reader.tag() != 1) return false;
    dtype = dtypeOf(reader.get_int64());
    return true;
  });
  return dtype;
}

// A message field that is itself a type.
Bytes typeWithin(Bytes bytes, uint32_t field) {
  Bytes type;
  forEachField(bytes, [&](Reader& reader) {
    if (reader.tag() != field) return false;
    type = viewOf(reader.get_view());
    return true;
  });
  return type;
}

// One level of a type; returns the type within it.
Bytes appendType(Bytes bytes, std::vector<DType>& types) {
  Bytes within;
  forEachField(bytes, [&](Reader& reader) {
    switch (reader.tag()) {
      case 1:
        types.push_back(tensorElement(viewOf(reader.get_view())));
        return true;
      case 4:
      case 9:
        types.push_back(reader.tag() == 4 ? DType::Sequence : DType::Optional);
        within = typeWithin(viewOf(reader.get_view()), 1);
        return true;
      case 5: {
        const Bytes map = viewOf(reader.get_view());
        types.insert(types.end(), {DType::Map, tensorElement(map)});  // its key's type is field 1 as well
        within = typeWithin(map, 2);
        return true;
      }
      default:
        return false;
    }
  });
  return within;
}

std::vector<DType> typesWithin(Bytes bytes) {
  constexpr size_t kMost = std::tuple_size_v<InnerTypes> + 1;
  std::vector<DType> types;
  while (!bytes.empty()) {
    bytes = appendType(bytes, types);
    require(types.size() <= kMost, MAX_STATUS_UNIMPLEMENTED, "A type is nested too deep");
  }
  return types;
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
      model.functions.push_back(viewOf(reader.get_view()));
      return true;
    case kKernelsField:
      model.kernels.push_back(viewOf(reader.get_view()));
      return true;
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
      graph.sparseInitializers.push_back(viewOf(reader.get_view()));
      return true;
    default:
      return false;
  }
}

// For NodeProto and NodeNames.
template <class Node>
bool namedField(Reader& reader, Node& node) {
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
    default:
      return false;
  }
}

bool nodeField(Reader& reader, NodeProto& node) {
  switch (reader.tag()) {
    case 5:
      node.attributes.push_back(parseAttribute(viewOf(reader.get_view())));
      return true;
    case 7:
      node.domain = viewOf(reader.get_view());
      return true;
    case 8:
      node.overload = viewOf(reader.get_view());
      return true;
    default:
      return namedField(reader, node);
  }
}

bool nameField(Reader& reader, NodeNames& node) {
  switch (reader.tag()) {
    case 5:
      forEachField(viewOf(reader.get_view()), [&](Reader& attribute) {
        if (attribute.tag() != 6 && attribute.tag() != 11) return false;
        node.graphs.push_back(viewOf(attribute.get_view()));
        return true;
      });
      return true;
    default:
      return namedField(reader, node);
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
    case 14:
      attribute.typeProto = viewOf(reader.get_view());
      return true;
    case 20:
      attribute.type = reader.get_int64();
      return true;
    case 21:
      attribute.referenceName = viewOf(reader.get_view());
      return true;
    case 22:
      attribute.sparse = viewOf(reader.get_view());
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
      tensor.strings.push_back(viewOf(reader.get_view()));
      return true;
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

bool functionField(Reader& reader, FunctionProto& function) {
  switch (reader.tag()) {
    case 1:
      function.name = viewOf(reader.get_view());
      return true;
    case 4:
      function.inputs.push_back(viewOf(reader.get_view()));
      return true;
    case 5:
      function.outputs.push_back(viewOf(reader.get_view()));
      return true;
    case 7:
      function.nodes.push_back(viewOf(reader.get_view()));
      return true;
    case 9:
      function.opsets.push_back(parseOpset(viewOf(reader.get_view())));
      return true;
    case 10:
      function.domain = plainDomain(viewOf(reader.get_view()));
      return true;
    case 11:
      function.defaults.push_back(parseAttribute(viewOf(reader.get_view())));
      return true;
    case 13:
      function.overload = viewOf(reader.get_view());
      return true;
    default:
      return false;
  }
}

bool sparseField(Reader& reader, SparseTensorProto& tensor) {
  switch (reader.tag()) {
    case 1:
      tensor.values = viewOf(reader.get_view());
      return true;
    case 2:
      tensor.indices = viewOf(reader.get_view());
      return true;
    case 3:
      readInts(reader, tensor.dims);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view plainDomain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

ModelProto parseModel(Bytes bytes) { return parse<ModelProto>("ONNX model", bytes, modelField); }
KernelCode parseKernel(Bytes bytes) {
  return parse<KernelCode>("kernel", bytes, [](Reader& reader, KernelCode& kernel) {
    std::string* const fields[] = {&kernel.chip, &kernel.source, &kernel.code};
    if (reader.tag() < 1 || reader.tag() > 3) return false;
    *fields[reader.tag() - 1] = viewOf(reader.get_view());
    return true;
  });
}
GraphProto parseGraph(Bytes bytes) {
  GraphProto graph = parse<GraphProto>("graph", bytes, graphField);
  graph.bytes = bytes.size();
  return graph;
}
NodeProto parseNode(Bytes bytes) { return parse<NodeProto>("node", bytes, nodeField); }
NodeNames parseNodeNames(Bytes bytes) { return parse<NodeNames>("node", bytes, nameField); }
AttributeProto parseAttribute(Bytes bytes) { return parse<AttributeProto>("attribute", bytes, attributeField); }
TensorProto parseTensor(Bytes bytes) { return parse<TensorProto>("tensor", bytes, tensorField); }
std::string_view parseTensorName(Bytes bytes) {
  return parse<std::string_view>("tensor", bytes, [](Reader& reader, std::string_view& name) {
    if (reader.tag() != 8) return false;
    name = viewOf(reader.get_view());
    return true;
  });
}
FunctionProto parseFunction(Bytes bytes) {
  FunctionProto function = parse<FunctionProto>("function", bytes, functionField);
  function.bytes = bytes.size();
  return function;
}
SparseTensorProto parseSparseTensor(Bytes bytes) {
  return parse<SparseTensorProto>("sparse tensor", bytes, sparseField);
}

ValueInfoProto parseValueInfo(Bytes bytes) {
  return parse<ValueInfoProto>("value description", bytes, [](Reader& reader, ValueInfoProto& info) {
    if (reader.tag() == 1) return info.name = viewOf(reader.get_view()), true;
    if (reader.tag() != 2) return false;
    const Bytes type = viewOf(reader.get_view());
    parseType(type, info);
    if (!info.kind.empty() && info.kind != "tensor") info.types = typesWithin(type);
    return true;
  });
}

std::vector<DType> parseTypes(Bytes bytes) {
  try {
    return typesWithin(bytes);
  } catch (const protozero::exception&) {
    fail(MAX_STATUS_DATA_LOSS, "Malformed or truncated type");
  }
}

}  // namespace max::onnx
