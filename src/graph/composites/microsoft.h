// SPDX-License-Identifier: Apache-2.0
// Shared by the operators of com.microsoft.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/composite.h"
#include "graph/composites/attention.h"

namespace max::microsoft {

inline constexpr std::string_view kDomain = "com.microsoft";

// The node's attributes without these.
Attributes attributesWithout(const Expansion& e, std::initializer_list<std::string_view> names);
// The operator of ONNX's own domain with the same inputs; attributes stay.
void forward(Expansion& e, std::string_view op, Attributes attributes);

// The permutations that move the channels from last to second, and back.
std::vector<int64_t> channelsFirst(int rank);
std::vector<int64_t> channelsLast(int rank);

// Options without an expansion: flags that are set, inputs that are present.
void refuse(Expansion& e, std::initializer_list<const char*> flags);
void refuseInputs(Expansion& e, std::initializer_list<std::pair<size_t, const char*>> inputs);

// Queries, keys and values.
struct Triple {
  attention::Heads q, k, v;
};
// Number of valid tokens per sample; 0 without a mask.
Value* maskIndex(Expansion& e, Value* mask);
// The attribute `scale`; 0 means the default scale.
std::optional<double> givenScale(Expansion& e);

// QuantizeLinear and DequantizeLinear; `zero` may be NULL.
Value* dequantized(Expansion& e, Value* value, Value* scale, Value* zero);
Value* quantized(Expansion& e, Value* value, Value* scale, Value* zero, DType dtype);
// (A - aZero) (B - bZero) of integers, as `dtype` times `scale`. Zero points may be NULL.
Value* scaledProduct(Expansion& e, const Values& operands, Value* scale, DType dtype);

}  // namespace max::microsoft
