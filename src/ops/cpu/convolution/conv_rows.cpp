// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_rows.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "graph/readers/windows.h"

namespace max {

BorderedRows::BorderedRows(const ConvShape& shape)
    : shape_(shape),
      copies_(shape.before[2] > 0 || shape.after[2] > 0),
      rowFloats_(checkedMultiply(checkedAdd(shape.in[2], shape.before[2] + shape.after[2]), shape.channels)) {
  const int64_t rows = shape.kernel[0] * shape.kernel[1];
  scratchBytes_ = copies_ ? alignUp(checkedMultiply<int64_t>(4 * rows, rowFloats_)) : 0;
}

void BorderedRows::copyRow(const float* from, float* to) const {
  const int64_t before = shape_.before[2] * shape_.channels, width = shape_.in[2] * shape_.channels;
  std::fill_n(to, before, 0.f);
  std::memcpy(to + before, from, static_cast<size_t>(width) * sizeof(float));
  std::fill(to + before + width, to + rowFloats_, 0.f);
}

// The rows of one tap of the first axis.
void BorderedRows::addSlice(const float* x, int64_t slice, int64_t top, int64_t tap, int64_t& next, float* copies,
                            Inside& rows) const {
  const int64_t last = std::min(top + shape_.kernel[1], shape_.in[1]);
  for (int64_t h = std::max<int64_t>(top, 0); h < last; ++h) {
    const int64_t number = slice * shape_.in[1] + h;
    const float* from = x + number * shape_.in[2] * shape_.channels;
    if (copies_) {
      float* copy = copies + (tap * shape_.kernel[1] + h % shape_.kernel[1]) * rowFloats_;
      if (number >= next) {
        copyRow(from, copy);
        next = number + 1;
      }
      from = copy;
    }
    rows.x[rows.count] = from;
    rows.numbers[rows.count++] = tap * shape_.kernel[1] + h - top;
  }
}

BorderedRows::Inside BorderedRows::find(const float* x, int64_t index, Next& next, std::byte* memory) const {
  const int64_t outSlice = index / shape_.out[1], image = outSlice / shape_.out[0];
  const int64_t front = outSlice % shape_.out[0] * shape_.stride[0] - shape_.before[0];
  const int64_t top = index % shape_.out[1] * shape_.stride[1] - shape_.before[1];
  Inside rows;
  for (int64_t tap = 0; tap < shape_.kernel[0]; ++tap) {
    const int64_t slice = front + tap;
    if (slice < 0 || slice >= shape_.in[0]) continue;
    addSlice(x, image * shape_.in[0] + slice, top, tap, next[static_cast<size_t>(tap)],
             reinterpret_cast<float*>(memory), rows);
  }
  return rows;
}

bool hasBorderedRows(const Node& node, const Shape& weights) {
  if (weights.product(2, weights.rank() - 1) > BorderedRows::kMost) return false;
  const readers::Windows windows = readers::readWindows(node.attributes, weights.dims().subspan(2));
  return std::all_of(windows.axes.begin(), windows.axes.end(),
                     [](const readers::Window& window) { return window.dilation == 1; });
}

}  // namespace max
