// SPDX-License-Identifier: Apache-2.0
// Taps that see nothing but the border of an image for all pixels of a tile: a product leaves them out.
#pragma once

#include <cstdint>
#include <span>

#include "ops/cpu/convolution/conv_shape.h"

namespace max {

class BorderTaps {
 public:
  // `joins`: the taps of a kernel row are one.
  BorderTaps(const ConvShape& shape, bool joins) : shape_(shape), joins_(joins) {}
  int64_t count() const { return shape_.taps() / (joins_ ? shape_.kernel[2] : 1); }
  // About which part of all products tiles of so many pixels leave out.
  double share(int64_t tilePixels) const;
  // Of an output pixel, counted over all images.
  Spatial placeOf(int64_t pixel) const;
  // Of `count` output pixels from a place on, which moves behind them. Returns whether there are any.
  bool find(Spatial& at, int64_t count, std::span<bool> hidden) const;

 private:
  // Pixels of a row of the output.
  struct Run {
    Spatial at;
    int64_t count;
  };
  int64_t position(const Spatial& at, size_t axis, int64_t tap) const {
    return at[axis] * shape_.stride[axis] - shape_.before[axis] + tap * shape_.dilation[axis];
  }
  int64_t hiddenPixels(size_t axis, int64_t tap, int64_t together) const;
  bool hides(const Run& run, size_t axis, int64_t tap) const;
  bool hidesAny(const Run& run) const;
  bool hide(const Run& run, bool isFirst, std::span<bool> hidden) const;

  ConvShape shape_;
  bool joins_;
};

}  // namespace max
