// SPDX-License-Identifier: Apache-2.0
// What nodes say that read or write where other tensors tell: read once here for shape rules, fast and reference
// kernels. The rank of input 0 must be known.
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

// OneHot: the place of the new axis in the output.
int readOneHotAxis(const NodeInputs& inputs);

// NonMaxSuppression: boxes are given by centre and size, not by two corners.
bool hasCentredBoxes(const NodeInputs& inputs);

// Unique: the groups come in the order of their values, not of their first places.
bool sortsGroups(const NodeInputs& inputs);

// Compress and Unique: nullopt = they work on the elements, whatever the shape.
std::optional<int> readSelectionAxis(const NodeInputs& inputs);
bool hasSelectionAxis(const NodeInputs& inputs);  // whatever the rank

}  // namespace max::readers
