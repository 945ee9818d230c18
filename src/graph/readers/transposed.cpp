// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/transposed.h"

#include "base/align.h"
#include "graph/readers/windows.h"

namespace max::readers {

bool hasPhases(const Attributes& attributes, const Shape& weights) {
  constexpr int64_t kMostPhases = 256, kMostRows = 64;  // of the kernel of a depthwise convolution
  int64_t phases = 1, rows = 1, lastRows = 1;
  for (const Window& axis : readWindows(attributes, weights.dims().subspan(2)).axes) {
    if (axis.dilation != 1 || axis.size < axis.stride) return false;
    rows *= lastRows;
    lastRows = ceilDiv(axis.size, axis.stride);
    if (axis.stride > kMostPhases || rows > kMostRows) return false;
    phases *= axis.stride;
  }
  return phases <= kMostPhases;
}

bool isPhasedDepthwise(const Attributes& attributes, const Shape& weights) {
  const int64_t groups = readGroups(attributes);
  return groups > 1 && groups == weights[0] && weights[1] == 1 && hasPhases(attributes, weights);
}

}  // namespace max::readers
