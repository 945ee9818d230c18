// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/quantized.h"

#include <algorithm>
#include <cmath>

#include "graph/readers/quantization.h"

namespace max {

namespace {

bool isByte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

// Operands of QuantizeLinear and DequantizeLinear from `integers` to float32 or back.
std::optional<QuantizedValue> parameters(const Node& node, Value* integers) {
  const readers::Quantization reader(node.attributes);
  const std::optional<double> scale = scalarOf(node.input(1));
  const bool isPlain = reader.block == 0 && (reader.precision == DType::Invalid || reader.precision == DType::Float32);
  if (!isPlain || !isByte(integers->type.dtype) || !scale || node.input(1)->type.dtype != DType::Float32) return {};
  if (*scale <= 0 || !std::isfinite(*scale) || (node.input(2) && !scalarOf(node.input(2)))) return {};
  return QuantizedValue{integers, node.input(1), node.input(2)};
}

int64_t quantizedNumber(float x, const QuantizedValue& to, int64_t least, int64_t most) {
  const double scaled = std::nearbyint(x / static_cast<float>(to.scaleNumber())) + static_cast<double>(to.zeroNumber());
  return static_cast<int64_t>(std::clamp(scaled, static_cast<double>(least), static_cast<double>(most)));
}

// The bounds of Relu or Clip, if they are known numbers.
bool readBounds(const Node& node, float& low, float& high) {
  if (node.is("Relu")) low = 0;
  if (!node.is("Clip")) return node.is("Relu");
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!node.input(i)) continue;
    const auto bound = scalarOf(node.input(i));
    if (!bound) return false;
    (i == 1 ? low : high) = static_cast<float>(*bound);
  }
  return low <= high;
}

}  // namespace

std::optional<QuantizedValue> dequantized(const Value* value) {
  const Node* node = producer(value, "DequantizeLinear");
  if (!node || value->type.dtype != DType::Float32) return std::nullopt;
  return parameters(*node, node->input(0));
}

std::optional<QuantizedValue> quantized(const Node& quantize) {
  if (quantize.input(0)->type.dtype != DType::Float32) return std::nullopt;
  return parameters(quantize, quantize.output());
}

bool sameScale(const QuantizedValue& a, const QuantizedValue& b) {
  return a.dtype() == b.dtype() && a.scaleNumber() == b.scaleNumber() && a.zeroNumber() == b.zeroNumber();
}

Value* zeroOf(Rewriter& rewriter, const QuantizedValue& value) {
  return value.zero ? value.zero : rewriter.scalar(value.dtype(), 0);
}

bool ClampedInput::limits(DType dtype) const {
  const int64_t least = isSigned(dtype) ? -128 : 0;
  return low > least || high < least + 255;
}

std::optional<ClampedInput> clampedInput(const Node& quantize) {
  const auto to = quantized(quantize);
  if (!to) return std::nullopt;
  const int64_t least = isSigned(to->dtype()) ? -128 : 0, most = least + 255;
  Value* value = quantize.input(0);
  const Node* clamp = localProducer(value);
  float low = -INFINITY, high = INFINITY;
  const bool isClamp = clamp && clamp->domain().empty() && hasSingleUse(value) && readBounds(*clamp, low, high);
  if (!isClamp) return ClampedInput{value, least, most, nullptr};
  return ClampedInput{clamp->input(0), quantizedNumber(low, *to, least, most), quantizedNumber(high, *to, least, most),
                      clamp};
}

}  // namespace max
