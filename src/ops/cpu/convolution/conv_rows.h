// SPDX-License-Identifier: Apache-2.0
// Rows of a convolution's input, copied with their borders unless they have none.
#pragma once

#include <array>
#include <cstddef>

#include "ops/cpu/convolution/conv_shape.h"

namespace max {

// Of float32, without dilations, with up to kMost kernel rows.
class BorderedRows {
 public:
  static constexpr int64_t kMost = 64;

  // Those inside of the input for a row of output pixels.
  struct Inside {
    const float* x[kMost];
    int64_t numbers[kMost];  // of the kernel rows
    int64_t count = 0;
  };
  // For each tap of the first axis: the first row of the input, counted over all images, that was not copied.
  using Next = std::array<int64_t, kMost>;

  explicit BorderedRows(const ConvShape& shape);
  int64_t scratchBytes() const { return scratchBytes_; }
  // `index`: of the row of the output, counted over all images. `next` is zeros at first; the memory keeps copies of
  // rows for the next call, of a later row.
  Inside find(const float* x, int64_t index, Next& next, std::byte* memory) const;

 private:
  void addSlice(const float* x, int64_t slice, int64_t top, int64_t tap, int64_t& next, float* copies,
                Inside& rows) const;
  void copyRow(const float* from, float* to) const;

  ConvShape shape_;
  bool copies_;
  int64_t rowFloats_, scratchBytes_;
};

}  // namespace max
