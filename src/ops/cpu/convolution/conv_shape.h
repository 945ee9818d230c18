// SPDX-License-Identifier: Apache-2.0
// The geometry of a convolution over channels-last tensors, as three spatial dimensions.
#pragma once

#include <array>
#include <cstdint>

#include "base/shape.h"
#include "graph/graph.h"

namespace max {

using Spatial = std::array<int64_t, 3>;

struct ConvShape {
  int64_t images = 0, channels = 0, filters = 0, groups = 1;
  Spatial in{1, 1, 1}, out{1, 1, 1};
  Spatial kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Spatial before{0, 0, 0}, after{0, 0, 0};  // padding

  ConvShape() = default;
  // X [N, spatial.., C], W [M, C / group, kernel..], output [N, out.., M] of a convolution of the compiler's, with up
  // to 3 spatial dimensions.
  ConvShape(const Node& node, const Shape& x, const Shape& w, const Shape& output);

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t groupChannels() const { return channels / groups; }
  int64_t groupFilters() const { return filters / groups; }
  int64_t pixels() const { return out[0] * out[1] * out[2]; }
  bool isPadded() const;
  // Every output pixel reads one input pixel, at the same position.
  bool isPointwise() const { return taps() == 1 && !isPadded() && stride == Spatial{1, 1, 1}; }
};

// Of a tensor whose channels come second.
Shape channelsLast(const Shape& shape);

// The same convolution over an input that contains its padding.
ConvShape withBorders(const ConvShape& shape);

// The same with the taps of each kernel row joined to one, `kernel[2] * channels` elements long. Without dilation along
// the row, and in one group.
ConvShape asRowTaps(ConvShape shape);

}  // namespace max
