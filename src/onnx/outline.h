// SPDX-License-Identifier: Apache-2.0
// What can be read from a model file without importing it, whether its operators are supported or not.
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

// Both throw DATA_LOSS if the file is not an ONNX model.
ModelOutline outlineOnnx(const Storage& file);
// In the DOT language: the nodes as in the file, including subgraphs.
std::string drawOnnx(const Storage& file);

}  // namespace max
