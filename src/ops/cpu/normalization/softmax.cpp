// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/normalization/softmax.h"

#include <hwy/cache_control.h>

#include <algorithm>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "graph/readers/normalization.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/quantization/quantize.h"
#include "ops/cpu/streamed.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kColumns = 512;                             // lines processed together
constexpr int64_t kLeastStreamed = 64, kMostStreamed = 8192;  // elements of a line that stays in a cache
constexpr int64_t kFewElements = 8;                           // of a line, which would fill a part of a vector
constexpr int64_t kElementsPerPart = 4096;                    // worth a thread

int axisOf(const OpRequest& request) {
  return readers::readAxis(request.node.attributes, -1, request.inputs[0].shape.rank());
}

class SoftmaxOp final : public OpKernel {
 public:
  SoftmaxOp(const Shape& shape, int axis, bool logarithm, int lanes)
      : table_(softmaxTable()),
        outer_(shape.product(0, axis)),
        size_(shape.rank() ? shape[axis] : 1),
        inner_(shape.product(std::min(axis + 1, shape.rank()), shape.rank())),
        logarithm_(logarithm),
        lanes_(std::max(lanes, 1)) {}

  int inPlaceInput() const override { return 0; }
  size_t scratchBytes() const override { return static_cast<size_t>(lanes_ * laneFloats()) * sizeof(float); }
  void run(const OpContext& context) const override {
    if (outer_ * size_ * inner_ == 0) return;
    if (inner_ == 1 && isShort())
      runShortRows(context);
    else if (inner_ == 1)
      runRows(context);
    else
      runColumns(context);
  }

 private:
  bool mayStream() const {
    return size_ > kLeastStreamed && size_ <= kMostStreamed && outer_ * size_ * 4 >= kStreamedBytes;
  }
  bool isShort() const { return size_ <= kFewElements && outer_ >= 2 * kFewElements; }
  int64_t laneFloats() const {
    if (inner_ > 1) return 2 * kColumns;
    return isShort() ? (2 + size_) * kColumns : mayStream() ? size_ : 0;
  }

  // Some rows at once become columns and rows again.
  void runShortRows(const OpContext& context) const {
    constexpr int64_t kSize = sizeof(float);
    const int64_t blocks = (outer_ + kColumns - 1) / kColumns;
    const auto body = [&](int64_t begin, int64_t end, int lane) {
      float* scratch = reinterpret_cast<float*>(context.scratch) + lane * laneFloats();
      float* columns = scratch + 2 * kColumns;
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * kColumns, rows = std::min(kColumns, outer_ - first);
        const auto* from = reinterpret_cast<const std::byte*>(context.in<float>(0) + first * size_);
        auto* to = reinterpret_cast<std::byte*>(context.out<float>() + first * size_);
        auto* between = reinterpret_cast<std::byte*>(columns);
        transposeTiles(kSize, from, size_ * kSize, between, rows * kSize, rows, size_);
        table_.columns(columns, columns, size_, rows, rows, scratch, logarithm_);
        transposeTiles(kSize, between, rows * kSize, to, size_ * kSize, size_, rows);
      }
    };
    context.parallelFor(blocks, grainOf(kElementsPerPart, {size_, kColumns}), body);
  }

  void runRows(const OpContext& context) const {
    const float* x = context.in<float>(0);
    float* y = context.out<float>();
    const bool streams = mayStream() && isStreamed(y, outer_ * size_ * 4, size_ * 4, x);
    const auto body = [&](int64_t begin, int64_t end, int lane) {
      float* weights = streams ? reinterpret_cast<float*>(context.scratch) + lane * laneFloats() : nullptr;
      for (int64_t i = begin; i < end; ++i) table_.row(x + i * size_, y + i * size_, size_, logarithm_, weights);
      if (streams) hwy::FlushStream();
    };
    context.parallelFor(outer_, grainOf(kElementsPerPart, {size_}), body);
  }

  void runColumns(const OpContext& context) const {
    const float* x = context.in<float>(0);
    float* y = context.out<float>();
    const int64_t parts = (inner_ + kColumns - 1) / kColumns;
    const auto body = [&](int64_t begin, int64_t end, int lane) {
      float* scratch = reinterpret_cast<float*>(context.scratch) + lane * laneFloats();
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * kColumns, offset = i / parts * size_ * inner_ + first;
        table_.columns(x + offset, y + offset, size_, inner_, std::min(kColumns, inner_ - first), scratch, logarithm_);
      }
    };
    context.parallelFor(outer_ * parts, grainOf(kElementsPerPart, {size_, std::min(inner_, kColumns)}), body);
  }

  const SoftmaxTable& table_;
  int64_t outer_, size_, inner_;
  bool logarithm_;
  int lanes_;
};

// Of bytes, which are real numbers for some lines at a time. Inputs: x, its scale and zero point, and those of y.
template <class X, class Y>
class QuantizedSoftmaxOp final : public OpKernel {
 public:
  explicit QuantizedSoftmaxOp(const OpRequest& request) {
    const Shape& shape = request.inputs[0].shape;
    size_ = shape.back();
    lines_ = shape.product(0, shape.rank() - 1);
    lanes_ = static_cast<int>(std::clamp<int64_t>(lines_, 1, std::max(request.lanes, 1)));  // each has memory
    together_ = std::clamp<int64_t>(kElementsTogether / std::max<int64_t>(size_, 1), 1, std::max<int64_t>(lines_, 1));
    laneBytes_ = alignUp(checkedMultiply(static_cast<size_t>(checkedMultiply(size_, together_)), sizeof(float)));
  }

  size_t scratchBytes() const override { return checkedMultiply(laneBytes_, static_cast<size_t>(lanes_)); }
  void run(const OpContext& context) const override {
    if (size_ == 0) return;
    const float scale = *context.in<float>(1), zero = static_cast<float>(*context.in<X>(2));
    const float resultScale = *context.in<float>(3), resultZero = static_cast<float>(*context.in<Y>(4));
    const int lanes = std::min(context.lanes, lanes_);
    parallelFor(lanes, lines_, grainOf(kElementsPerPart, {size_}), [&](int64_t begin, int64_t end, int lane) {
      auto* lines = reinterpret_cast<float*>(context.scratch + static_cast<size_t>(lane) * laneBytes_);
      for (int64_t line = begin; line < end; line += together_) {
        const int64_t count = std::min(together_, end - line) * size_, at = line * size_;
        const X* from = context.in<X>(0) + at;
        Y* to = context.out<Y>() + at;
        inParts(count, 1, [&](int64_t first, int64_t last) {
          quantizeTable().loops<X>().dequantize(from + first, lines + first, last - first, scale, zero);
        });
        for (int64_t i = 0; i < count; i += size_) softmaxTable().row(lines + i, lines + i, size_, false, nullptr);
        inParts(count, 1, [&](int64_t first, int64_t last) {
          quantizeTable().loops<Y>().quantize(lines + first, to + first, last - first, resultScale, resultZero);
        });
      }
    });
  }

 private:
  static constexpr int64_t kElementsTogether = 2048;

  int64_t lines_, size_, together_;
  size_t laneBytes_;
  int lanes_;
};

template <class X>
std::unique_ptr<OpKernel> createFrom(const OpRequest& request) {
  if (request.outputs[0].dtype == DType::UInt8) return std::make_unique<QuantizedSoftmaxOp<X, uint8_t>>(request);
  return std::make_unique<QuantizedSoftmaxOp<X, int8_t>>(request);
}

std::unique_ptr<OpKernel> createQuantized(const OpRequest& request) {
  return request.inputs[0].dtype == DType::UInt8 ? createFrom<uint8_t>(request) : createFrom<int8_t>(request);
}

bool accepts(const OpRequest& request) { return request.inputs[0].dtype == DType::Float32; }

template <bool kLogarithm>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<SoftmaxOp>(request.inputs[0].shape, axisOf(request), kLogarithm, request.lanes);
}

constexpr Implementation kSoftmax[] = {{"softmax", accepts, create<false>}};
constexpr Implementation kLogSoftmax[] = {{"softmax", accepts, create<true>}};
constexpr Implementation kQuantizedSoftmax[] = {{"softmax", nullptr, createQuantized}};
constexpr OpRow kRows[] = {
    {"", "Softmax", kSoftmax}, {"", "LogSoftmax", kLogSoftmax}, {kMaxDomain, "QLinearSoftmax", kQuantizedSoftmax}};

}  // namespace

std::span<const OpRow> softmaxOps() { return kRows; }

}  // namespace max
