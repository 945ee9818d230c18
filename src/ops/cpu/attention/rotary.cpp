// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/attention/rotary.h"

#include <algorithm>

#include "base/interrupt_point.h"
#include "graph/readers/attention.h"
#include "ops/cpu/elementwise/layout.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/tensor_copy.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;
constexpr int64_t kElementsAtOnce = 2048;  // are in the first cache when what is not rotated is copied

class RotaryOp final : public OpKernel {
 public:
  explicit RotaryOp(const OpRequest& request) : length_(request.inputs[0].shape.back()) {
    const readers::Rotary rotary(request.node.attributes);
    size_ = rotary.sizeOf(length_);
    rotate_ = rotary.isInterleaved ? rotaryTable().neighbours : rotaryTable().halves;
    apart_ = rotary.isInterleaved ? 1 : size_ / 2;
    const Shape rows = rowsOf(request.inputs[0].shape);
    const Shape angles[] = {rowsOf(request.inputs[1].shape), rowsOf(request.inputs[2].shape)};
    rows_ = collapseBroadcast(rows, angles);
    count_ = rows.count();
    for (size_t i = 0; i < 2; ++i) width_[i] = request.inputs[i + 1].shape.back();
  }

  // Both elements of a pair are read before one of them is written.
  int inPlaceInput() const override { return 0; }

  void run(const OpContext& context) const override {
    if (size_ == 0) return;
    const int64_t last = rows_.dims.back();
    context.parallelFor(count_, grainOf(kElementsPerPart, {length_}), [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end;) {
        const int64_t some = std::min({last - row % last, end - row, std::max<int64_t>(1, kElementsAtOnce / length_)});
        runRows(context, row, some);
        passWork(some * length_ / 4);
        row += some;
      }
    });
  }

 private:
  static Shape rowsOf(const Shape& shape) { return Shape(shape.dims().first(static_cast<size_t>(shape.rank()) - 1)); }

  // Rows that differ in their last index only.
  void runRows(const OpContext& context, int64_t first, int64_t count) const {
    RotaryRows rows{};
    rows.x = context.in<float>(0) + first * length_;
    rows.y = context.out<float>() + first * length_;
    rows.count = count;
    rows.size = size_;
    rows.step = length_;
    rows.cos = context.in<float>(1) + offset(0, first) * width_[0];
    rows.sin = context.in<float>(2) + offset(1, first) * width_[1];
    rows.cosStep = rows_.strides[0].back() * width_[0];
    rows.sinStep = rows_.strides[1].back() * width_[1];
    rows.cosSecond = width_[0] == size_ ? apart_ : 0;
    rows.sinSecond = width_[1] == size_ ? apart_ : 0;
    rotate_(rows);
    if (size_ < length_ && rows.x != rows.y) copyRests(rows);
  }

  void copyRests(const RotaryRows& rows) const {
    constexpr int64_t kBytes = sizeof(float);
    copyRuns(reinterpret_cast<const std::byte*>(rows.x + size_), reinterpret_cast<std::byte*>(rows.y + size_),
             rows.count, length_ * kBytes, length_ * kBytes, (length_ - size_) * kBytes);
  }

  int64_t offset(size_t angles, int64_t row) const {
    int64_t offset = 0;
    for (int axis = rows_.dims.rank() - 1; axis >= 0; row /= rows_.dims[axis--])
      offset += row % rows_.dims[axis] * rows_.strides[angles][axis];
    return offset;
  }

  void (*rotate_)(const RotaryRows& rows);
  int64_t length_, size_;  // elements of a row, and those that are rotated
  int64_t count_;
  int64_t apart_;     // the elements of a pair
  int64_t width_[2];  // of rows of angles
  BroadcastDims rows_;
};

}  // namespace

std::unique_ptr<OpKernel> createRotary(const OpRequest& request) { return std::make_unique<RotaryOp>(request); }

}  // namespace max
