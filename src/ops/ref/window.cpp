// SPDX-License-Identifier: Apache-2.0
#include "ops/ref/window.h"

namespace max::reference {

ImageShape::ImageShape(const Shape& shape, Layout layout) {
  const Shape dense = contiguousStrides(shape);
  const int channelAxis = layout == Layout::ChannelsFirst ? 1 : shape.rank() - 1;
  const int firstSpatial = layout == Layout::ChannelsFirst ? 2 : 1;
  batch = shape[0];
  batchStride = dense[0];
  channels = shape[channelAxis];
  channelStride = dense[channelAxis];
  for (int i = firstSpatial; i < firstSpatial + shape.rank() - 2; ++i) {
    spatial.push(shape[i]);
    spatialStrides.push(dense[i]);
  }
}

int64_t ImageShape::offset(const Shape& position) const {
  int64_t result = 0;
  for (int i = 0; i < position.rank(); ++i) result += position[i] * spatialStrides[i];
  return result;
}

WindowShapes::WindowShapes(const readers::Windows& windows, const Shape& input, const Shape& output) {
  for (const readers::Window& window : windows.between(input.dims(), output.dims())) {
    kernel.push(window.size);
    strides.push(window.stride);
    dilations.push(window.dilation);
    padsBegin.push(window.padBegin);
    padsEnd.push(window.padEnd);
  }
}

bool WindowShapes::locate(const Shape& output, const Shape& tap, const Shape& input, Shape& position) const {
  for (int i = 0; i < kernel.rank(); ++i) {
    position[i] = output[i] * strides[i] + tap[i] * dilations[i] - padsBegin[i];
    if (position[i] < 0 || position[i] >= input[i]) return false;
  }
  return true;
}

readers::Windows windowsOf(const Node& node, const Shape& weights) {
  return readers::readWindows(node.attributes, weights.dims().subspan(2));
}

}  // namespace max::reference
