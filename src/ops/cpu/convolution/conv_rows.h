// SPDX-License-Identifier: Apache-2.0
// Rows of a convolution's input, copied with their borders unless they have none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/interrupt_point.h"
#include "ops/cpu/convolution/conv_shape.h"
#include "ops/op_kernel.h"

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

  explicit BorderedRows(const ConvShape& shape);
  int64_t scratchBytes() const { return scratchBytes_; }  // of a lane
  // Calls body(index, rows, memory) for each row of the output; the memory of a lane begins with the copies of rows.
  template <class Body>
  void forEach(const OpContext& context, int64_t laneBytes, int64_t stepsPerRow, Body body) const {
    const int64_t rows = shape_.images * shape_.out[0] * shape_.out[1];
    const int lanes = rows * stepsPerRow < 50'000 ? 1 : context.lanes;
    parallelFor(lanes, rows, std::max<int64_t>(1, rows / (lanes * 8)), [&](int64_t begin, int64_t end, int lane) {
      std::byte* memory = context.scratch + lane * laneBytes;
      Next next{};
      for (int64_t row = begin; row < end; ++row) {
        body(row, find(context.in<float>(0), row, next, memory), memory);
        passWork(stepsPerRow);
      }
    });
  }

 private:
  // For each tap of the first axis: the first row of the input, counted over all images, that was not copied.
  using Next = std::array<int64_t, kMost>;

  // `index`: of the row of the output, counted over all images. `next` is zeros at first; the memory keeps copies of
  // rows for the next call, of a later row.
  Inside find(const float* x, int64_t index, Next& next, std::byte* memory) const;
  void addSlice(const float* x, int64_t slice, int64_t top, int64_t tap, int64_t& next, float* copies,
                Inside& rows) const;
  void copyRow(const float* from, float* to) const;

  ConvShape shape_;
  bool copies_;
  int64_t rowFloats_, scratchBytes_;
};

// Whether they serve a convolution of the compiler's with such weights.
bool hasBorderedRows(const Node& node, const Shape& weights);

}  // namespace max
