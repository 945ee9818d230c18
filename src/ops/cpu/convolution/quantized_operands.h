// SPDX-License-Identifier: Apache-2.0
// What max.ConvInteger and max.QLinearConv read beside their images and filters.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/readers/quantization.h"
#include "ops/cpu/matrix/gemm_int.h"

namespace max {

// Which inputs the operands are; 0 = none (the first input is always the image). The residual is followed by its scale
// and zero point; the result has those of the sum, if there is one. With a factor the result is real numbers.
struct QuantizedInputs {
  size_t w, xZero, wZero, xScale, wScale, yScale, yZero, bias, residual, sumScale, sumZero, addends, factor,
      multipliers;

  constexpr bool requantizes() const { return yZero != 0; }
};
inline constexpr QuantizedInputs kConvIntegerInputs{1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 5, 4, 0},
    kQLinearConvInputs{3, 2, 5, 1, 4, 6, 7, 8, 9, 12, 13, 14, 0, 15};

inline bool isByte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

inline ZeroPoints zerosOf(const Tensor* zeros) {
  if (!zeros) return {};
  return {zeros->data(), zeros->dtype() == DType::Int8, zeros->count()};
}

// The numbers of a run that all kernels here need. `at` lives as long.
class QuantizedOperands {
 public:
  QuantizedOperands(const OpRequest& request, const QuantizedInputs& at) : at_(at) {
    inputs_.assign(request.inputs.begin(), request.inputs.end());
    const DType result = request.outputs[0].dtype;
    if (!isByte(result)) return;
    const readers::QuantizedRange range(request.node.attributes, result);
    const readers::QuantizedRange whole(Attributes(), inputs_[at_.yZero].dtype);
    last_ = {range.low, range.high};
    first_ = hasSum() ? Limits{whole.low, whole.high} : last_;
  }

  bool has(size_t input) const { return input != 0 && input < inputs_.size() && inputs_[input].present(); }
  bool hasResidual() const { return has(at_.residual); }
  bool hasAddends() const { return has(at_.addends); }
  bool hasSum() const { return has(at_.sumScale); }
  bool requantizes() const { return at_.requantizes(); }
  bool isSigned(size_t input) const { return inputs_[input].dtype == DType::Int8; }
  // What bytes are combined with, so that they are unsigned, and their zero point then.
  uint8_t flip() const { return isSigned(0) ? 0x80 : 0; }
  int32_t zero(const OpContext& context) const { return zero(context, at_.xZero) + flip(); }
  int32_t zero(const OpContext& context, size_t input) const {
    if (!has(input)) return 0;
    return ZeroPoints{context.inputs[input], isSigned(input), 1}[0];
  }
  float scale(const OpContext& context, size_t input, int64_t i = 0) const {
    return context.in<float>(input)[inputs_[input].shape.count() == 1 ? 0 : i];
  }
  bool hasFactor() const { return has(at_.factor); }
  float factor(const OpContext& context, int64_t filter) const {
    if (hasFactor()) return scale(context, at_.factor, filter);
    return scale(context, at_.xScale) * scale(context, at_.wScale, filter) / scale(context, at_.yScale);
  }
  float addend(const OpContext& context, int64_t filter) const {
    const float addend = context.in<float>(at_.addends)[filter];
    return hasFactor() ? addend : addend / scale(context, at_.sumScale);
  }
  // What the result is multiplied by before an addend joins it.
  float ownFactor(const OpContext& context, int64_t filter) const {
    const float factor = scale(context, at_.yScale) / scale(context, at_.sumScale);
    return has(at_.multipliers) ? factor * context.in<float>(at_.multipliers)[filter] : factor;
  }
  int32_t bias(const OpContext& context, int64_t filter) const {
    return has(at_.bias) ? context.in<int32_t>(at_.bias)[filter] : 0;
  }

  // The contents of what factors, bias and addends are made of, if all are known now; else empty.
  std::vector<const void*> constants() const {
    std::vector<const void*> data(inputs_.size());
    for (const size_t i : {at_.xScale, at_.xZero, at_.wScale, at_.yScale, at_.bias, at_.addends, at_.factor,
                           at_.multipliers, hasAddends() ? at_.sumScale : 0}) {
      if (!has(i)) continue;
      const Tensor* constant = inputs_[i].constant;
      if (!constant || !constant->hasContents() || !constant->isAligned()) return {};
      data[i] = constant->data();
    }
    return data;
  }
  void forgetConstants() {
    for (Operand& input : inputs_) input.constant = nullptr;
  }

  RequantizedSum sum(const OpContext& context) const {
    RequantizedSum sum{};
    if (!hasSum()) return sum;
    sum.ownFactor = scale(context, at_.yScale) / scale(context, at_.sumScale);
    sum.sumZero = zero(context, at_.sumZero);
    sum.low = last_.low;
    sum.high = last_.high;
    if (!hasResidual()) return sum;
    sum.otherIsSigned = isSigned(at_.residual);
    sum.otherFactor = scale(context, at_.residual + 1) / scale(context, at_.sumScale);
    sum.otherZero = zero(context, at_.residual + 2);
    return sum;
  }
  // `sum`: as above, and living as long.
  Requantization requantization(const OpContext& context, const float* factors, const int32_t* bias,
                                const RequantizedSum& sum) const {
    return {factors, zero(context, at_.yZero), first_.low, first_.high, bias, hasSum() ? &sum : nullptr};
  }
  const uint8_t* residual(const OpContext& context, int64_t at) const {
    return hasResidual() ? context.in<uint8_t>(at_.residual) + at : nullptr;
  }

 private:
  struct Limits {
    int32_t low = 0, high = 0;
  };

  const QuantizedInputs& at_;
  std::vector<Operand> inputs_;
  Limits first_, last_;  // of the convolution, and of its sum with the residual
};

// The parameters of `count` columns of sums in words of memory: an array of each.
class ColumnParameters {
 public:
  static constexpr size_t kArrays = 4;
  struct Column {
    float factor = 0;
    int32_t bias = 0;                 // with what the image's zero point adds
    float ownFactor = 0, addend = 0;  // what results are multiplied by, and what is added to them
  };

  ColumnParameters(const QuantizedOperands& operands, int64_t count) : operands_(operands), count_(count) {}

  // `zeros`: the image's zero point times the sum of the filter's weights.
  Column read(const OpContext& context, int64_t filter, uint32_t zeros) const {
    const bool requantizes = operands_.requantizes(), adds = operands_.hasAddends();
    Column column;
    if (requantizes || operands_.hasFactor()) column.factor = operands_.factor(context, filter);
    column.bias = static_cast<int32_t>(static_cast<uint32_t>(operands_.bias(context, filter)) - zeros);
    if (adds && requantizes) column.ownFactor = operands_.ownFactor(context, filter);
    if (adds) column.addend = operands_.addend(context, filter);
    return column;
  }
  void write(const Column& column, int64_t i, int32_t* words) const {
    auto* floats = reinterpret_cast<float*>(words) + i;
    floats[0] = column.factor;
    words[count_ + i] = column.bias;
    floats[2 * count_] = column.ownFactor;
    floats[3 * count_] = column.addend;
  }

  // Whether a product with a factor may exceed 32 bits.
  bool mayOverflow(const int32_t* words) const {
    return max::mayOverflow(reinterpret_cast<const float*>(words), count_);
  }
  // Sums meet the columns from `first` on.
  void apply(const int32_t* words, int64_t first, Requantization& how, RequantizedSum& sum) const {
    const auto* floats = reinterpret_cast<const float*>(words) + first;
    how.factors = floats;
    how.bias = words + count_ + first;
    if (!operands_.hasAddends()) return;
    const float* addends = floats + 3 * count_;
    if (!operands_.requantizes()) {
      how.addends = addends;
      return;
    }
    sum.ownFactors = floats + 2 * count_;
    sum.addends = addends;
  }

 private:
  const QuantizedOperands& operands_;
  int64_t count_;
};

}  // namespace max
