// SPDX-License-Identifier: Apache-2.0
// Sliding windows of convolutions and pools, over tensors with channels first or last.
#pragma once

#include "graph/readers/windows.h"
#include "ops/ref/reference.h"

namespace max::reference {

enum class Layout { ChannelsFirst, ChannelsLast };

// The axes of an image tensor: [N, C, spatial..] or [N, spatial.., C].
struct ImageShape {
  int64_t batch;
  int64_t channels;
  Shape spatial;
  int64_t batchStride;
  int64_t channelStride;
  Shape spatialStrides;

  ImageShape(const Shape& shape, Layout layout);
  // Offset of a position, batch 0 and channel 0.
  int64_t offset(const Shape& position) const;
};

// The windows of all axes, with the pads that they have between two shapes.
struct WindowShapes {
  Shape kernel, strides, dilations, padsBegin, padsEnd;

  WindowShapes(const readers::Windows& windows, const Shape& input, const Shape& output);
  // The input position under `tap` for an output position; false outside the input.
  bool locate(const Shape& output, const Shape& tap, const Shape& input, Shape& position) const;
};

// The windows of a convolution whose weights have this shape.
readers::Windows windowsOf(const Node& node, const Shape& weights);

}  // namespace max::reference
