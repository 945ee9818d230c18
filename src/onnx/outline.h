// SPDX-License-Identifier: Apache-2.0
// What a model file shows without being imported, whether its operators are supported or not.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"

namespace max {

struct ModelOutline {
  std::shared_ptr<DimTable> symbols;                       // of the dimensions
  std::vector<std::pair<std::string, TensorType>> inputs;  // without those that are weights
  std::vector<std::pair<std::string, TensorType>> outputs;
};

// Both throw DATA_LOSS if the file is no ONNX model.
ModelOutline outlineOnnx(const Storage& file);
// In the DOT language: the nodes as the file has them, subgraphs included.
std::string drawOnnx(const Storage& file);

}  // namespace max
