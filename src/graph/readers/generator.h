// SPDX-License-Identifier: Apache-2.0
// What nodes say that make tensors from shapes and a few numbers: read once here for shape rules and kernels.
#pragma once

#include "graph/node_inputs.h"

namespace max::readers {

// Shape: the dimensions [begin, end) of input 0, whose rank must be known.
struct DimensionRange {
  int begin, end;
};
DimensionRange readDimensionRange(const NodeInputs& inputs);

// Flatten: how many dimensions of input 0, whose rank must be known, make the first one.
int readFlattenAxis(const NodeInputs& inputs);

// ConstantOfShape: one element; NULL = zero, float32.
Ref<Tensor> readFillValue(const NodeInputs& inputs);

// Trilu.
bool keepsUpper(const NodeInputs& inputs);

}  // namespace max::readers
