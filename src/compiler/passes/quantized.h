// SPDX-License-Identifier: Apache-2.0
// Patterns of quantised graphs: DequantizeLinear, an operator, QuantizeLinear.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/rewrite.h"

namespace max {

// 8-bit integers with one float32 scale for all, which is known, and one zero point (NULL = 0).
struct QuantizedValue {
  Value* value = nullptr;
  Value* scale = nullptr;
  Value* zero = nullptr;

  double scaleNumber() const { return *scalarOf(scale); }
  int64_t zeroNumber() const { return zero ? static_cast<int64_t>(*scalarOf(zero)) : 0; }
  DType dtype() const { return value->type.dtype; }
};

// What a value is dequantised from.
std::optional<QuantizedValue> dequantized(const Value* value);
// What a QuantizeLinear makes.
std::optional<QuantizedValue> quantized(const Node& quantize);
// The same numbers mean the same.
bool sameScale(const QuantizedValue& a, const QuantizedValue& b);
// The zero point as a value, which operators with integer inputs need.
Value* zeroOf(Rewriter& rewriter, const QuantizedValue& value);

// The input of a QuantizeLinear before Relu or Clip, and the range that this leaves to the integers.
struct ClampedInput {
  Value* value;
  int64_t low, high;
  const Node* clamp;  // NULL = none

  bool limits(DType dtype) const;
};
std::optional<ClampedInput> clampedInput(const Node& quantize);

// Constant weights in 8 bits, with scales and zero points for all or for each filter.
struct QuantizedWeights {
  Ref<Tensor> values;
  Value *scale = nullptr, *zero = nullptr;
  int64_t filters = 0;
};
std::optional<QuantizedWeights> quantizedWeights(Rewriter& rewriter, const Value* value, int filterAxis);
// The bias of each filter as a number; NULL = zeros. Nullopt if it is not known.
std::optional<std::vector<double>> quantizedBias(const Value* value, int64_t filters);

// A product whose operands are dequantised and whose result is only read by a QuantizeLinear, maybe after a clamp.
struct QuantizedProduct {
  const Node* node;
  QuantizedValue x, y;
  QuantizedWeights w;
  ClampedInput clamped;
  Value* bias;  // integers in units of the sums; NULL = none
};
std::optional<QuantizedProduct> quantizedProduct(Rewriter& rewriter, const Node& quantize, std::string_view op,
                                                 int filterAxis);
// The inputs of a QLinearConv.
std::vector<Value*> convInputs(Rewriter& rewriter, const QuantizedProduct& product, Value* weights);
// A QLinearConv with these attributes and what its clamp leaves.
Value* integerConv(Rewriter& rewriter, const QuantizedProduct& product, const Attributes& attributes,
                   const Node& quantize);

// A rule: quantised ConvTranspose to quantised Conv, whose bytes are then moved.
bool splitTransposedConv(Rewriter& rewriter, Node& quantize);
// A rule: MatMul with a matrix of few bits in blocks to max.MatMulNBits.
bool keepBlocks(Rewriter& rewriter, Node& product);

}  // namespace max
