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
    const int64_t least = std::max(kLeastStreamed, logarithm_ ? 0 : table_.longestInRegisters);
    return size_ > least && size_ <= kMostStreamed && outer_ * size_ * 4 >= kStreamedBytes;
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
      table_.rows(x + begin * size_, y + begin * size_, end - begin, size_, logarithm_, weights);
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

// Of float64.
class DoubleSoftmaxOp final : public OpKernel {
 public:
  DoubleSoftmaxOp(const Shape& shape, int axis, bool logarithm)
      : table_(doubleSoftmaxTable()),
        outer_(shape.product(0, axis)),
        size_(shape.rank() ? shape[axis] : 1),
        inner_(shape.product(std::min(axis + 1, shape.rank()), shape.rank())),
        logarithm_(logarithm) {}

  int inPlaceInput() const override { return 0; }
  void run(const OpContext& context) const override {
    if (size_ == 0) return;
    const int64_t width = std::min(inner_, kWidth), parts = ceilDiv(inner_, kWidth);
    context.parallelFor(outer_ * parts, grainOf(kElementsPerPart, {size_, width}),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t i = begin; i < end; ++i) {
                            const int64_t first = i % parts * kWidth, at = i / parts * size_ * inner_ + first;
                            const double* x = context.in<double>(0) + at;
                            double* y = context.out<double>() + at;
                            if (inner_ == 1)
                              table_.row(x, y, size_, logarithm_);
                            else
                              table_.columns(x, y, size_, inner_, std::min(kWidth, inner_ - first), logarithm_);
                          }
                        });
  }

 private:
  static constexpr int64_t kWidth = 64;  // lines processed together

  const DoubleSoftmaxTable& table_;
  int64_t outer_, size_, inner_;
  bool logarithm_;
};

// Of bytes. Inputs: x, its scale and zero point, and those of y.
class QuantizedSoftmaxOp final : public OpKernel {
 public:
  explicit QuantizedSoftmaxOp(const OpRequest& request)
      : table_(softmaxTable()),
        isSigned_(request.inputs[0].dtype == DType::Int8),
        resultIsSigned_(request.outputs[0].dtype == DType::Int8) {
    constexpr size_t kVector = 16;  // floats behind a line
    const Shape& shape = request.inputs[0].shape;
    size_ = shape.back();
    lines_ = shape.product(0, shape.rank() - 1);
    lanes_ = static_cast<int>(std::clamp<int64_t>(lines_, 1, std::max(request.lanes, 1)));  // each has memory
    laneBytes_ = alignUp(checkedMultiply(checkedAdd(static_cast<size_t>(size_), kVector), sizeof(float)));
  }

  size_t scratchBytes() const override { return checkedMultiply(laneBytes_, static_cast<size_t>(lanes_)); }
  void run(const OpContext& context) const override {
    if (size_ == 0) return;
    const int32_t zero = resultIsSigned_ ? *context.in<int8_t>(4) + 128 : *context.in<uint8_t>(4);
    const ByteSoftmax how{*context.in<float>(1), *context.in<float>(3), zero, flipOf(isSigned_),
                          flipOf(resultIsSigned_)};
    const int lanes = std::min(context.lanes, lanes_);
    parallelFor(lanes, lines_, grainOf(kElementsPerPart, {size_}), [&](int64_t begin, int64_t end, int lane) {
      auto* weights = reinterpret_cast<float*>(context.scratch + static_cast<size_t>(lane) * laneBytes_);
      const int64_t at = begin * size_;
      table_.bytes(how, context.in<uint8_t>(0) + at, context.out<uint8_t>() + at, size_, end - begin, weights);
    });
  }

 private:
  static uint8_t flipOf(bool isSigned) { return isSigned ? 0x80 : 0; }

  const SoftmaxTable& table_;
  bool isSigned_, resultIsSigned_;
  int64_t lines_, size_;
  size_t laneBytes_;
  int lanes_;
};

std::unique_ptr<OpKernel> createQuantized(const OpRequest& request) {
  return std::make_unique<QuantizedSoftmaxOp>(request);
}

bool accepts(const OpRequest& request) { return request.inputs[0].dtype == DType::Float32; }

template <bool kLogarithm>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<SoftmaxOp>(request.inputs[0].shape, axisOf(request), kLogarithm, request.lanes);
}

bool acceptsDouble(const OpRequest& request) {
  return request.inputs[0].dtype == DType::Float64 && doubleSoftmaxTable().row;
}

template <bool kLogarithm>
std::unique_ptr<OpKernel> createDouble(const OpRequest& request) {
  return std::make_unique<DoubleSoftmaxOp>(request.inputs[0].shape, axisOf(request), kLogarithm);
}

constexpr Implementation kSoftmax[] = {{"softmax", accepts, create<false>},
                                       {"f64", acceptsDouble, createDouble<false>}};
constexpr Implementation kLogSoftmax[] = {{"softmax", accepts, create<true>},
                                          {"f64", acceptsDouble, createDouble<true>}};
constexpr Implementation kQuantizedSoftmax[] = {{"softmax", nullptr, createQuantized}};
constexpr OpRow kRows[] = {
    {"", "Softmax", kSoftmax}, {"", "LogSoftmax", kLogSoftmax}, {kMaxDomain, "QLinearSoftmax", kQuantizedSoftmax}};

}  // namespace

std::span<const OpRow> softmaxOps() { return kRows; }

}  // namespace max
