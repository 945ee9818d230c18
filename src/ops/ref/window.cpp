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

Shape spatialAttribute(const Call& call, std::string_view name, int rank, int64_t fallback) {
  const std::vector<int64_t> values = call.node.attributes.getInts(name);
  if (values.empty()) return Shape::filled(rank, fallback);
  if (static_cast<int>(values.size()) < rank)
    call.fail(MAX_STATUS_INVALID_ARGUMENT, "attribute ", name, " has ", values.size(), " values for ", rank, " axes");
  return Shape(values);
}

Window::Window(const Call& call, const Shape& kernelShape, const Shape& input, const Shape& output)
    : kernel(kernelShape) {
  const int rank = kernel.rank();
  strides = spatialAttribute(call, "strides", rank, 1);
  dilations = spatialAttribute(call, "dilations", rank, 1);
  const Shape pads = spatialAttribute(call, "pads", 2 * rank, 0);
  const std::string autoPad = call.node.attributes.getString("auto_pad", "NOTSET");
  for (int i = 0; i < rank; ++i) {
    int64_t begin = pads[i], end = pads[rank + i];
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      const int64_t extent = (output[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1;
      const int64_t total = std::max<int64_t>(extent - input[i], 0);
      begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    } else if (autoPad == "VALID") {
      begin = end = 0;
    }
    padsBegin.push(begin);
    padsEnd.push(end);
  }
}

bool Window::locate(const Shape& output, const Shape& tap, const Shape& input, Shape& position) const {
  for (int i = 0; i < kernel.rank(); ++i) {
    position[i] = output[i] * strides[i] + tap[i] * dilations[i] - padsBegin[i];
    if (position[i] < 0 || position[i] >= input[i]) return false;
  }
  return true;
}

}  // namespace max::reference
