// SPDX-License-Identifier: Apache-2.0
// ONNX's protobuf messages as views into the file: names point into it, nested messages
// are kept as unparsed bytes until they are needed. Field numbers are those of onnx.proto (IR version 14).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/tensor.h"
#include "graph/dim.h"
#include "graph/graph.h"
#include "graph/kernel_code.h"

namespace max::onnx {

using Bytes = std::string_view;  // an unparsed message

struct AttributeProto {
  std::string_view name;
  std::string_view referenceName;  // of a function's parameter
  int64_t type = 0;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  Bytes t;
  Bytes g;
  Bytes typeProto;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<Bytes> graphs;
  Bytes sparse;
};

struct NodeProto {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::string_view name;
  std::string_view op;
  std::string_view domain;
  std::string_view overload;
  std::vector<AttributeProto> attributes;
};

// Inputs and outputs of a node, without its attributes.
struct NodeNames {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::string_view name;
  std::string_view op;
  std::vector<Bytes> graphs;  // of its attributes
};

struct DimensionProto {
  bool known = false;
  int64_t value = 0;
  std::string_view symbol;
};

struct ValueInfoProto {
  std::string_view name;
  std::string_view kind;  // "tensor", "sequence", "map", "optional", "sparse tensor", "none"
  int64_t elementType = 0;
  bool ranked = false;
  std::vector<DimensionProto> dims;
  std::vector<DType> types;  // of a sequence, optional or map, see parseTypes
};

struct GraphProto {
  std::string_view name;
  std::vector<Bytes> nodes;
  std::vector<Bytes> initializers;
  std::vector<Bytes> inputs;
  std::vector<Bytes> outputs;
  std::vector<Bytes> sparseInitializers;
  size_t bytes = 0;  // of the message
};

using Opsets = std::vector<std::pair<std::string_view, int64_t>>;  // domain ("" = ONNX's own), version

struct ModelProto {
  int64_t irVersion = 0;
  std::string_view producer;
  Opsets opsets;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  bool hasGraph = false;
  Bytes graph;
  std::vector<Bytes> functions;
  std::vector<Bytes> kernels;  // of a compiled model
};
inline constexpr uint32_t kKernelsField = 1000;  // not one of ONNX's

// A function: an operator that the model defines from others.
struct FunctionProto {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<AttributeProto> defaults;  // attributes that callers may omit
  std::vector<Bytes> nodes;
  Opsets opsets;
  size_t bytes = 0;  // of the message
};

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t dataType = 0;
  bool isExternal = false;
  std::vector<std::pair<std::string_view, std::string_view>> external;
  bool hasRaw = false;
  Bytes raw;
  std::vector<float> floats;
  std::vector<int64_t> ints;  // int32_data, int64_data and uint64_data
  std::vector<double> doubles;
  std::vector<std::string_view> strings;
};

struct SparseTensorProto {
  Bytes values;
  Bytes indices;
  std::vector<int64_t> dims;
};

// Each throws DATA_LOSS if the message is malformed.
ModelProto parseModel(Bytes bytes);
KernelCode parseKernel(Bytes bytes);
GraphProto parseGraph(Bytes bytes);
NodeProto parseNode(Bytes bytes);
NodeNames parseNodeNames(Bytes bytes);
AttributeProto parseAttribute(Bytes bytes);
ValueInfoProto parseValueInfo(Bytes bytes);
// ONNX's own domain has two names; this gives "".
std::string_view plainDomain(std::string_view domain);
TensorProto parseTensor(Bytes bytes);
std::string_view parseTensorName(Bytes bytes);
// A TypeProto's types, outermost first: sequences and optionals before their contents, a map before its key and value.
std::vector<DType> parseTypes(Bytes bytes);
SparseTensorProto parseSparseTensor(Bytes bytes);
FunctionProto parseFunction(Bytes bytes);

}  // namespace max::onnx
