// SPDX-License-Identifier: Apache-2.0
// Resize along one axis: the input position of an output index, and the input pixels that contribute to it.
#pragma once

#include <vector>

#include "base/work_vector.h"
#include "graph/readers/resize.h"
#include "ops/cpu/movement/movement.h"

namespace max {

// One axis that changes.
struct ResizedAxis {
  int axis;
  int64_t inputSize, outputSize;
  double scale;
  double roiStart = 0, roiEnd = 1;
};

// Every output index is the weighted sum of `taps` input indices.
struct AxisWeights {
  int64_t taps = 0;
  WorkVector<int64_t> index;   // outputSize * taps
  WorkVector<double> weight;   // outputSize * taps
  WorkVector<bool> isOutside;  // takes extrapolation_value instead
};

readers::Resize resizeOf(const OpRequest& request);
// Axes whose size or scale is not 1, from scales or sizes, axes and roi.
std::vector<ResizedAxis> resizedAxes(const MovementCall& call, const readers::Resize& resize);
AxisWeights axisWeights(const Node& node, const readers::Resize& resize, const ResizedAxis& axis);
// The nearest input index for every output index; -1 = extrapolation_value.
WorkVector<int64_t> nearestIndices(const readers::Resize& resize, const ResizedAxis& axis);

}  // namespace max
