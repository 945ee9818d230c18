// SPDX-License-Identifier: Apache-2.0
// What nodes say that make tensors from shapes and a few numbers: read once here for shape rules and kernels.
#pragma once

#include <optional>
#include <vector>

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

// EyeLike: the diagonal with the ones, above (positive) or below the main one.
int64_t readDiagonal(const Attributes& attributes);

// What random operators draw from: without a seed, from the process's own generator.
std::optional<uint64_t> readSeed(const Attributes& attributes);
// RandomNormal, RandomUniform and their Like forms: offset + scale * a number of the standard distribution.
struct Distribution {
  double offset, scale;
};
Distribution readNormal(const Attributes& attributes);
Distribution readUniform(const Attributes& attributes);
// RandomNormal, RandomUniform: of the output.
std::vector<int64_t> readRandomShape(const NodeInputs& inputs);
// Multinomial: numbers that are drawn for each row.
int64_t readSamples(const NodeInputs& inputs);

}  // namespace max::readers
