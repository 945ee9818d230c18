// SPDX-License-Identifier: Apache-2.0
// Patterns of quantised graphs: DequantizeLinear, an operator, QuantizeLinear.
#pragma once

#include <optional>

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

// A rule: quantised ConvTranspose to quantised Conv, whose bytes are then moved.
bool splitTransposedConv(Rewriter& rewriter, Node& quantize);

}  // namespace max
