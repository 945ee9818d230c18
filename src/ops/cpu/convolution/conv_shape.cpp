// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_shape.h"

#include "graph/readers/windows.h"

namespace max {

namespace {

Spatial spatialDims(const Shape& shape, int first, int rank) {
  Spatial result{1, 1, 1};
  for (int i = 0; i < rank; ++i) result[static_cast<size_t>(3 - rank + i)] = shape[first + i];
  return result;
}

}  // namespace

ConvShape::ConvShape(const Node& node, const Shape& x, const Shape& w, const Shape& output) {
  const int rank = x.rank() - 2;
  images = x[0];
  channels = x.back();
  filters = w[0];
  groups = readers::readGroups(node.attributes);
  in = spatialDims(x, 1, rank);
  out = spatialDims(output, 1, rank);
  const readers::Windows windows = readers::readWindows(node.attributes, w.dims().subspan(2));
  for (size_t i = 0, at = 3 - windows.axes.size(); i < windows.axes.size(); ++i, ++at) {
    const readers::Window& window = windows.axes[i];
    kernel[at] = window.size;
    stride[at] = window.stride;
    dilation[at] = window.dilation;
    before[at] = window.padBegin;
    after[at] = window.padEnd;
  }
}

bool ConvShape::isPadded() const { return before != Spatial{} || after != Spatial{}; }

Shape channelsLast(const Shape& shape) {
  Shape result = shape;
  for (int i = 1; i + 1 < shape.rank(); ++i) result[i] = shape[i + 1];
  result[shape.rank() - 1] = shape[1];
  return result;
}

ConvShape withBorders(const ConvShape& shape) {
  ConvShape result = shape;
  for (size_t i = 0; i < 3; ++i) {
    result.in[i] += result.before[i] + result.after[i];
    result.before[i] = result.after[i] = 0;
  }
  return result;
}

ConvShape asRowTaps(ConvShape shape) {
  shape.kernel[2] = 1;
  return shape;
}

}  // namespace max
