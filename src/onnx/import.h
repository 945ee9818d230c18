// SPDX-License-Identifier: Apache-2.0
// ONNX file -> graph. Differences between opset versions are resolved here: the graph follows the newest opset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/kernel_code.h"

namespace max {

// Fully supported versions of ONNX's own operator set; of older ones, only operators that have not changed since.
inline constexpr int64_t kOldestOpset = 7;
inline constexpr int64_t kMaxOpset = 28;

struct UnsupportedNode {
  std::string name;
  std::string domain;  // "ai.onnx" for ONNX's own
  std::string op;
  int64_t version;  // of the model's operator set; 0 = not imported
};

struct ModelInfo {
  int64_t irVersion = 0;
  std::string producer;
  std::vector<std::pair<std::string, int64_t>> opsets;      // ONNX's own domain as "ai.onnx"
  std::map<std::string, int64_t> operators;                 // "Conv", "com.microsoft.Gelu" -> nodes, subgraphs included
  int64_t parameters = 0;                                   // elements of all initialisers
  std::vector<std::pair<std::string, TensorType>> weights;  // those that can be replaced, in the file's order
  std::vector<UnsupportedNode> unsupported;
};

// Tensors that replace a model's weights, by name.
struct WeightTable {
  struct Entry {
    Ref<Tensor> tensor;
    mutable bool used = false;  // the model has such a weight
  };
  std::map<std::string, Entry, std::less<>> entries;
};
// Weight 'w': dimension 0 is 2, expected 3; given float32[2, 3], the model has float32[3, 3]
[[noreturn]] void failWeightType(std::string_view name, const Tensor& given, const TensorType& expected);

// In compiled models: an attribute with the names of the original nodes.
inline constexpr std::string_view kSourcesAttribute = "max.sources";

struct ImportOptions {
  std::string source = "model";  // name in messages: the path, or "model in memory"
  std::string folder;            // folder of external data; empty = none allowed
  // Another check for support besides the schema (are there kernels?). NULL = none.
  bool (*isSupported)(std::string_view domain, std::string_view op) = nullptr;
  const WeightTable* weights = nullptr;  // NULL = the model's own; data of weights in it is not read
  bool copyFile = false;                 // `file` goes away after the import
  bool copyExternal = false;             // external data may change after it
  // For compiled models, whose graph uses our own operators: the storage with the tensors, from this offset.
  Ref<Storage> compiledData;
  size_t compiledDataOffset = 0;
};

struct ImportedModel {
  Ref<Graph> graph;
  ModelInfo info;
  // The outputs' declared types, for metadata where inference knows less.
  std::vector<TensorType> declaredOutputs;
  std::vector<std::pair<std::string, Ref<Storage>>> externalFiles;  // by location
  KernelCodes kernels;                                              // of a compiled model
};

// `file` contains the model; initialisers are views of it, large ones with any alignment, so it is kept alive. Errors
// name the source and the node or tensor: DATA_LOSS (malformed), INVALID_ARGUMENT (inconsistent), UNIMPLEMENTED (all
// unsupported operators at once).
ImportedModel importOnnx(const Ref<Storage>& file, const ImportOptions& options);

// What importOnnx would find, without building anything; unsupported operators are not an error.
ModelInfo inspectOnnx(const Ref<Storage>& file, const ImportOptions& options);

// What is known about an output, with the model's names for otherwise unknown dimensions. Names are for people;
// declared numbers are ignored unless inferred.
void takeNames(TensorType& type, const TensorType& declared);

// ONNX's own domain is written "ai.onnx" in messages and reports.
std::string displayName(std::string_view domain, std::string_view op);  // "Conv", "com.microsoft.Gelu"

}  // namespace max
