// SPDX-License-Identifier: Apache-2.0
// An ONNX model as plain data that can be changed freely: it is written unchecked, wrong or not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attack {

struct GraphData;

struct TensorData {
  std::string name;
  int64_t type = 1;  // TensorProto.DataType
  std::vector<int64_t> dims;
  std::string raw;
  std::vector<std::string> strings;
};

struct AttributeData {
  std::string name;
  int64_t type = 2;       // AttributeProto.AttributeType
  std::string reference;  // the parameter of a function that it stands for
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  TensorData t;
  std::shared_ptr<GraphData> g;
  std::string typeProto;
};

struct NodeData {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string name;
  std::string op;
  std::string domain;
  std::vector<AttributeData> attributes;
};

struct DimensionData {
  bool known = false;
  int64_t value = 0;
  std::string symbol;
};

struct ValueData {
  std::string name;
  std::string other;  // the TypeProto of a value that is not a tensor
  int64_t type = 0;   // 0 and no `other` = without a type
  bool ranked = false;
  std::vector<DimensionData> dims;
};

struct GraphData {
  std::string name = "g";
  std::vector<NodeData> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueData> inputs;
  std::vector<ValueData> outputs;
};

using Opsets = std::vector<std::pair<std::string, int64_t>>;

struct FunctionData {
  std::string name;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;
  std::vector<AttributeData> defaults;
  std::vector<NodeData> nodes;
  Opsets opsets;
};

struct ModelData {
  int64_t irVersion = 10;
  Opsets opsets;
  GraphData graph;
  std::vector<FunctionData> functions;
  std::vector<TensorData> feeds;  // what inputs get in a run; in a file they are metadata
};

std::string writeModel(const ModelData& model);
// Throws max::Error if the bytes are not a model.
ModelData readModel(std::string_view bytes);
TensorData readTensor(std::string_view bytes);

// Of everything below a graph, itself first.
std::vector<GraphData*> graphsOf(GraphData& graph);
std::vector<GraphData*> graphsOf(ModelData& model);
// Copies do not share subgraphs.
ModelData copyOf(const ModelData& model);
GraphData copyOf(const GraphData& graph);

int64_t countOf(const std::vector<int64_t>& dims);  // -1 = negative or too large for memory

}  // namespace attack
