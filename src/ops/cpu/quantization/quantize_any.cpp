// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear of all element types, with one scale for all, one per index of an axis, or one
// per block along it.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/checked.h"
#include "base/half.h"
#include "base/number_access.h"
#include "graph/readers/quantization.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/families.h"

namespace max {

namespace {

// Maps elements to scales.
class ScaleMap {
 public:
  explicit ScaleMap(const OpRequest& request) {
    const Shape &data = request.inputs[0].shape, &scales = request.inputs[1].shape;
    scaleCount_ = scales.count();
    size_ = inner_ = blocks_ = block_ = 1;
    if (scaleCount_ == 1) return;
    const readers::Quantization reader(request.node.attributes);
    const int axis = reader.axis(data.rank());
    size_ = data[axis];
    inner_ = data.product(axis + 1, data.rank());
    blocks_ = scales.rank() == data.rank() ? scales[axis] : size_;
    const int64_t given = reader.block;
    block_ = given > 0 ? given : 1;
    isBlocked_ = given > 0 && scales.rank() == data.rank();
    const bool fits = isBlocked_ ? blocks_ == size_ / block_ + (size_ % block_ != 0) : scaleCount_ == size_;
    if (!fits || (request.has(2) && request.inputs[2].shape.count() != scaleCount_))
      invalidArgument(request.node.description(), ": scales ", scales, " do not fit axis ", axis, " of ", data);
  }

  int64_t scaleCount() const { return scaleCount_; }

  // Calls body(begin, end, scale, step): element i has scale `scale + (i - begin) * step`.
  template <class Body>
  void forRuns(int64_t begin, int64_t end, Body body) const {
    if (scaleCount_ == 1) return body(begin, end, int64_t{0}, 0);
    while (begin < end) {
      const int64_t row = begin / inner_, at = row % size_, column = begin % inner_;
      if (!isBlocked_ && inner_ == 1) {  // the rest of a row, each with a scale of its own
        const int64_t stop = std::min(end, begin + size_ - at);
        body(begin, stop, at, 1);
        begin = stop;
        continue;
      }
      const bool isBlockRow = isBlocked_ && inner_ == 1;
      // Along the last axis a run is the rest of a block, otherwise the rest of a row.
      const int64_t rows = isBlockRow ? std::min(block_ - at % block_, size_ - at) : 1;
      const int64_t stop = std::min(end, (row + rows) * inner_);
      const int64_t scale = isBlocked_ ? (row / size_ * blocks_ + at / block_) * inner_ + column : at;
      body(begin, stop, scale, isBlocked_ && !isBlockRow ? 1 : 0);
      begin = stop;
    }
  }

 private:
  int64_t scaleCount_, size_, inner_, blocks_, block_;
  bool isBlocked_ = false;
};

// The type that division and product are rounded to.
float roundedTo(DType dtype, float value) {
  if (dtype == DType::Float16) return floatFromHalf(halfFromFloat(value));
  return dtype == DType::BFloat16 ? floatFromBFloat16(bfloat16FromFloat(value)) : value;
}

// Rounds to nearest even. A number far out of range of all quantized types may become another such number.
float wholeNumber(float x) {
  constexpr float kMagic = 12582912.f, kFar = 1 << 20;  // adding 1.5 * 2^23 drops the fraction
  return std::min(std::max(-kFar, x), kFar) + kMagic - kMagic;
}

// Calls loop(step) with a step, 0 or 1, that the compiler knows, so that it makes vectors.
template <class Loop>
void withStep(int step, const Loop& loop) {
  return step == 0 ? loop(std::integral_constant<int64_t, 0>()) : loop(std::integral_constant<int64_t, 1>());
}

class AnyQuantizeOp : public OpKernel {
 public:
  explicit AnyQuantizeOp(const OpRequest& request)
      : scales_(request),
        from_(request.inputs[0].dtype),
        scaleType_(request.inputs[1].dtype),
        zeroType_(request.has(2) ? request.inputs[2].dtype : DType::Invalid),
        to_(request.outputs[0].dtype),
        count_(request.inputs[0].shape.count()) {
    rules_.saturate = readers::Quantization(request.node.attributes).saturates;
    if (!isFloat(to_)) store_ = findCastTileFunction(DType::Float32, to_);  // NULL for numbers of less than 8 bits
  }

  static bool accepts(const OpRequest& request) {
    for (const Operand& input : request.inputs)
      if (input.present() && (!isNumeric(input.dtype) || input.dtype == DType::Float64)) return false;
    return isNumeric(request.outputs[0].dtype) && request.outputs[0].dtype != DType::Float64;
  }

  size_t scratchBytes() const override {
    return checkedMultiply(static_cast<size_t>(scales_.scaleCount()), 2 * sizeof(float));
  }

  void run(const OpContext& context) const override {
    float* scales = reinterpret_cast<float*>(context.scratch);
    float* zeros = scales + scales_.scaleCount();
    loadNumbers(scaleType_, context.inputs[1], 0, scales_.scaleCount(), scales);
    std::fill_n(zeros, scales_.scaleCount(), 0.f);
    if (zeroType_ != DType::Invalid) loadNumbers(zeroType_, context.inputs[2], 0, scales_.scaleCount(), zeros);
    context.parallelFor((count_ + kNumberTile - 1) / kNumberTile, 8, [&](int64_t begin, int64_t end, int) {
      float tile[kNumberTile];
      for (int64_t i = begin * kNumberTile; i < std::min(count_, end * kNumberTile); i += kNumberTile) {
        const int64_t part = std::min(kNumberTile, count_ - i);
        loadNumbers(from_, context.inputs[0], i, part, tile);
        scales_.forRuns(i, i + part, [&](int64_t first, int64_t last, int64_t scale, int step) {
          work(tile + (first - i), last - first, scales + scale, zeros + scale, step);
        });
        store(context, i, part, tile);
      }
    });
  }

 protected:
  virtual void work(float* x, int64_t count, const float* scales, const float* zeros, int step) const = 0;

  void store(const OpContext& context, int64_t first, int64_t count, const float* tile) const {
    if (!store_) return storeNumbers(to_, context.outputs[0], first, count, tile, rules_);
    std::byte* to = context.out<std::byte>() + first * static_cast<int64_t>(sizeOf(to_));
    store_({to, {tile, nullptr, nullptr}, {1, 0, 0}, count, 0, 0});
  }

  ScaleMap scales_;
  DType from_, scaleType_, zeroType_, to_;
  int64_t count_;
  SmallFloatRules rules_;
  TileFunction store_ = nullptr;
};

class QuantizeOp final : public AnyQuantizeOp {
 public:
  explicit QuantizeOp(const OpRequest& request) : AnyQuantizeOp(request), precision_(quantizePrecision(request)) {}

 private:
  void work(float* x, int64_t count, const float* scales, const float* zeros, int step) const override {
    divide(x, count, scales, step);
    if (isFloat(to_)) {
      for (int64_t i = 0; i < count; ++i) x[i] += zeros[i * step];
      return;
    }
    const double size = std::ldexp(1.0, static_cast<int>(bitsOf(to_)));
    const auto low = static_cast<float>(isSigned(to_) ? -size / 2 : 0);
    const auto high = static_cast<float>(isSigned(to_) ? size / 2 - 1 : size - 1);
    withStep(step, [=](auto each) {
      for (int64_t i = 0; i < count; ++i) {
        const float y = wholeNumber(x[i]) + zeros[i * each];
        x[i] = std::min(std::max(low, y), high);  // NaN becomes the lower end
      }
    });
  }
  void divide(float* x, int64_t count, const float* scales, int step) const {
    if (precision_ == DType::Float16 || precision_ == DType::BFloat16) {
      const auto rounded = [this](float value) { return roundedTo(precision_, value); };
      for (int64_t i = 0; i < count; ++i) x[i] = rounded(rounded(x[i]) / rounded(scales[i * step]));
    } else if (step == 0) {
      for (int64_t i = 0; i < count; ++i) x[i] /= *scales;
    } else {
      divide_({x, {x, scales, nullptr}, {1, 1, 0}, count, 0, 0});
    }
  }

  static DType quantizePrecision(const OpRequest& request) {
    const DType given = readers::Quantization(request.node.attributes).precision;
    return given != DType::Invalid ? given : request.inputs[1].dtype;
  }
  DType precision_;
  TileFunction divide_ = findTileFunction(ElementOp::Div, DType::Float32, DType::Float32);
};

class DequantizeOp final : public AnyQuantizeOp {
 public:
  using AnyQuantizeOp::AnyQuantizeOp;

 private:
  void work(float* x, int64_t count, const float* scales, const float* zeros, int step) const override {
    withStep(step, [=](auto each) {
      for (int64_t i = 0; i < count; ++i) x[i] = (x[i] - zeros[i * each]) * scales[i * each];
    });
  }
};

template <class K>
inline constexpr Implementation kAny[] = {
    {"tiles", AnyQuantizeOp::accepts,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

const OpRow kRows[] = {
    {"", "QuantizeLinear", kAny<QuantizeOp>},
    {"", "DequantizeLinear", kAny<DequantizeOp>},
};

}  // namespace

std::span<const OpRow> anyQuantizeOps() { return kRows; }

}  // namespace max
