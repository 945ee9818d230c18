// SPDX-License-Identifier: Apache-2.0
// numpy's basic indexing: indices, ranges, "..." and None.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "device/buffer.h"

namespace max {

namespace {

struct Range {
  int64_t start;
  int64_t count;
  int64_t step;
};

int64_t clampEnd(int64_t end, int64_t size, int64_t low, int64_t high) {
  if (end < 0) end += size;
  return std::clamp(end, low, high);
}

// start:stop:step over a dimension, as numpy resolves it.
Range resolveRange(int64_t start, int64_t stop, int64_t step, int64_t size) {
  if (step == MAX_SLICE_OMITTED) step = 1;
  require(step != 0, MAX_STATUS_INVALID_ARGUMENT, "Step of a slice is zero");
  step = std::max(step, -std::numeric_limits<int64_t>::max());
  const bool forward = step > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? size : size - 1;
  const int64_t first = start == MAX_SLICE_OMITTED ? (forward ? low : high) : clampEnd(start, size, low, high);
  const int64_t last = stop == MAX_SLICE_OMITTED ? (forward ? high : low) : clampEnd(stop, size, low, high);
  const int64_t distance = forward ? last - first : first - last;
  const int64_t stride = forward ? step : -step;
  const int64_t count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  return {first, count, step};
}

// Processes the steps and builds the view's shape, strides and offset in elements.
class Slicer {
 public:
  explicit Slicer(const MaxBuffer& buffer) : buffer_(buffer) {}

  void index(int64_t position) {
    const int64_t size = buffer_.shape()[axis_];
    require(position >= -size && position < size, MAX_STATUS_OUT_OF_RANGE, "Index ", position,
            " is out of range for dimension ", axis_, " of size ", size);
    offset_ += (position < 0 ? position + size : position) * buffer_.strides()[axis_];
    ++axis_;
  }
  void range(int64_t start, int64_t stop, int64_t step) {
    const Range range = resolveRange(start, stop, step, buffer_.shape()[axis_]);
    const int64_t stride = buffer_.strides()[axis_];
    if (range.count > 0) offset_ += range.start * stride;
    // With fewer than two elements the step has no effect, and the product could overflow.
    append(range.count, range.count > 1 ? range.step * stride : stride);
    ++axis_;
  }
  void whole(int dimensions) {
    for (int i = 0; i < dimensions; ++i, ++axis_) append(buffer_.shape()[axis_], buffer_.strides()[axis_]);
  }
  void newAxis() { append(1, 0); }

  Ref<MaxBuffer> view() {
    MaxBuffer::Layout layout = buffer_.layout();
    layout.shape = shape_;
    layout.strides = strides_;
    if (shape_.count() == 0) offset_ = 0;
    if (!isPacked(buffer_.dtype()))
      return buffer_.view(layout, offset_ * static_cast<int64_t>(sizeOf(buffer_.dtype())));
    Ref<MaxBuffer> view = buffer_.view(layout, offset_ * static_cast<int64_t>(bitsOf(buffer_.dtype())) / 8);
    require(view->isContiguous() && offset_ * static_cast<int64_t>(bitsOf(buffer_.dtype())) % 8 == 0,
            MAX_STATUS_UNIMPLEMENTED, "A slice of elements of ", buffer_.dtype(),
            " must be contiguous and start at a byte boundary");
    return view;
  }

 private:
  void append(int64_t size, int64_t stride) {
    shape_.push(size);
    strides_.push(stride);
  }

  const MaxBuffer& buffer_;
  Shape shape_;
  Shape strides_;
  int64_t offset_ = 0;
  int axis_ = 0;
};

// Number of dimensions of the buffer that the steps use.
int namedDimensions(const MaxBuffer& buffer, const MaxSliceKind* kinds, int32_t count) {
  int named = 0;
  int ellipses = 0;
  for (int32_t i = 0; i < count; ++i) {
    require(kinds[i] >= MAX_SLICE_KIND_INDEX && kinds[i] <= MAX_SLICE_KIND_NEW_AXIS, MAX_STATUS_INVALID_ARGUMENT,
            "Step ", i, " of a slice has the unknown kind ", kinds[i]);
    named += kinds[i] == MAX_SLICE_KIND_INDEX || kinds[i] == MAX_SLICE_KIND_RANGE;
    ellipses += kinds[i] == MAX_SLICE_KIND_ELLIPSIS;
  }
  require(ellipses <= 1, MAX_STATUS_INVALID_ARGUMENT, "A slice has ", ellipses, " ellipses; one is allowed");
  require(named <= buffer.rank(), MAX_STATUS_INVALID_ARGUMENT, "A slice has steps for ", named,
          " dimensions, the buffer of type ", buffer.layout(), " has ", buffer.rank());
  return named;
}

}  // namespace

Ref<MaxBuffer> sliceBuffer(const MaxBuffer& buffer, const MaxSliceKind* kinds, const int64_t* starts,
                           const int64_t* stops, const int64_t* steps, int32_t count) {
  int unnamed = buffer.rank() - namedDimensions(buffer, kinds, count);
  Slicer slicer(buffer);
  for (int32_t i = 0; i < count; ++i) {
    const int64_t stop = stops ? stops[i] : MAX_SLICE_OMITTED;
    const int64_t step = steps ? steps[i] : 1;
    switch (kinds[i]) {
      case MAX_SLICE_KIND_INDEX:
        slicer.index(starts[i]);
        break;
      case MAX_SLICE_KIND_RANGE:
        slicer.range(starts[i], stop, step);
        break;
      case MAX_SLICE_KIND_ELLIPSIS:
        slicer.whole(std::exchange(unnamed, 0));
        break;
      default:
        slicer.newAxis();
    }
  }
  slicer.whole(unnamed);
  return slicer.view();
}

}  // namespace max
