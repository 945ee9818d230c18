// SPDX-License-Identifier: Apache-2.0
// Attributes and inputs of nodes that read or write at indices, for shape rules, fast and reference kernels. The rank
// of input 0 must be known.
#pragma once

#include <optional>

#include "graph/node_inputs.h"

namespace max::readers {

// The axis of Gather, GatherElements and ScatterElements.
int readGatherAxis(const NodeInputs& inputs);

// GatherND: leading dimensions that data and indices share; less than both ranks. The rank of input 1 must be known.
int readBatchDims(const NodeInputs& inputs);

enum class ScatterReduction { None, Add, Multiply, Max, Min };
ScatterReduction readScatterReduction(const NodeInputs& inputs);

struct TensorScatter {
  int axis;  // not 0, which is the batch
  bool isCircular;
};
TensorScatter readTensorScatter(const NodeInputs& inputs);

// NonMaxSuppression: boxes have centre and size, not two corners.
bool hasCentredBoxes(const NodeInputs& inputs);

// Unique: groups are ordered by value, not by first occurrence.
bool sortsGroups(const NodeInputs& inputs);

// Compress and Unique: nullopt = they work on the flattened input.
std::optional<int> readSelectionAxis(const NodeInputs& inputs);
bool hasSelectionAxis(const NodeInputs& inputs);  // for any rank

}  // namespace max::readers
