// SPDX-License-Identifier: Apache-2.0
// What the operators of com.microsoft share.
#pragma once

#include <string>
#include <vector>

#include "graph/composite.h"

namespace max::microsoft {

inline constexpr std::string_view kDomain = "com.microsoft";

// The node's attributes without these.
Attributes attributesWithout(const Expansion& e, std::initializer_list<std::string_view> names);
// The operator of ONNX's own domain with the same inputs; attributes stay.
void forward(Expansion& e, std::string_view op, Attributes attributes);

// QuantizeLinear and DequantizeLinear; `zero` may be NULL.
Value* dequantized(Expansion& e, Value* value, Value* scale, Value* zero);
Value* quantized(Expansion& e, Value* value, Value* scale, Value* zero, DType dtype);
// (A - aZero) (B - bZero) of integers, as `dtype` times `scale`. Zero points may be NULL.
Value* scaledProduct(Expansion& e, const Values& operands, Value* scale, DType dtype);

}  // namespace max::microsoft
