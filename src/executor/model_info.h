// SPDX-License-Identifier: Apache-2.0
// What a model's file or graph held, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/ref.h"
#include "graph/graph.h"
#include "max/model.h"

namespace max {

// One input or output as callers see it.
struct ModelTensor {
  ModelTensor(std::string_view tensorName, const TensorType& tensorType);

  std::string name;
  DType dtype = DType::Invalid;
  bool ranked = false;
  InnerTypes inner;                   // of what is no tensor
  std::string typeName;               // "float32[batch, 3]", "sequence of float32"
  std::vector<int64_t> dims;          // MAX_DIMENSION_DYNAMIC = any
  std::vector<std::string> dimNames;  // empty = none
  bool isTensor() const { return !isObject(dtype); }
  TensorType valueType() const;  // without dimensions
  int rank() const { return ranked ? static_cast<int>(dims.size()) : MAX_RANK_DYNAMIC; }
};
// "[(batch, 3), f32]"
void appendTo(std::string& text, const ModelTensor& tensor);

}  // namespace max

struct MaxModelInfo : max::Handle {
 public:
  struct Unsupported {
    std::string node;
    std::string op;
    int64_t version = 0;
  };

  int64_t irVersion = 0;
  std::string producer;
  int64_t parameters = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<std::pair<std::string, int64_t>> operators;  // sorted by name
  std::vector<Unsupported> unsupported;
  std::vector<max::ModelTensor> inputs, outputs;
  std::string drawing;  // in the DOT language; empty unless the file was asked for it
};
