// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of matrices, whatever their elements are: windows of pixels, which are read where they lie,
// by filters, which are stored tap by tap for this.
#pragma once

#include <string>

#include "ops/gpu/gpu_operators.h"

namespace max {

inline constexpr size_t kPixelAxes = 3;

// What `Layout` in a source begins with, which is pixelFields() there.
struct ConvolutionLayout {
  int64_t run = 1;
  int64_t pixels = 0, filters = 0, depth = 0, channels = 0, groups = 1, splits = 1, perSplit = 1;
  int64_t xImage = 0, xPixel = 0, wRow = 0;
  int64_t in[kPixelAxes] = {1, 1, 1}, out[kPixelAxes] = {1, 1, 1}, kernel[kPixelAxes] = {1, 1, 1},
          stride[kPixelAxes] = {1, 1, 1}, dilation[kPixelAxes] = {1, 1, 1}, pad[kPixelAxes] = {};
  float activationAlpha = 0, activationBeta = 0;
};
// Of channels that come last, and filters as packedFilters() stores them.
ConvolutionLayout convolutionLayout(const OpRequest& request, const Shape& w, DType dtype);
const char* pixelFields();

// Pixels<T, kRows, kThreads, To>: the windows of a tile's pixels. They come after the struct Layout.
const char* pixelFunctions();

Ref<Tensor> packedFilters(const Tensor& weights);

// Whether the weights are constant, and tiles of them are mostly filled.
bool fillsTiles(const Node& node, size_t weights);

}  // namespace max
