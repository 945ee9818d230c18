// SPDX-License-Identifier: Apache-2.0
// Attributes and inputs of nodes that make tensors from shapes and a few numbers, for shape rules and kernels.
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

// Flatten: the number of dimensions of input 0, whose rank must be known, that form the first one.
int readFlattenAxis(const NodeInputs& inputs);

// ConstantOfShape: one element; NULL = zero, float32.
Ref<Tensor> readFillValue(const NodeInputs& inputs);

// OneHot: the position of the new axis in the output. The rank of input 0 must be known.
int readOneHotAxis(const NodeInputs& inputs);

// Trilu.
bool keepsUpper(const NodeInputs& inputs);

// EyeLike: the diagonal of ones, above (positive) or below the main one.
int64_t readDiagonal(const Attributes& attributes);

// The seed of random operators; without one, they use the process's generator.
std::optional<uint64_t> readSeed(const Attributes& attributes);
// RandomNormal, RandomUniform and their Like forms: offset + scale * a sample of the standard distribution.
struct Distribution {
  double offset, scale;
};
Distribution readNormal(const Attributes& attributes);
Distribution readUniform(const Attributes& attributes);
// RandomNormal, RandomUniform: of the output.
std::vector<int64_t> readRandomShape(const NodeInputs& inputs);
// Multinomial: number of samples per row.
int64_t readSamples(const NodeInputs& inputs);

}  // namespace max::readers
