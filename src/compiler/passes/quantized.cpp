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

// In units of the product's sums, which are far finer than those of its result.
Value* integerBias(Rewriter& rewriter, const std::vector<double>& bias, const QuantizedValue& x, const Value* scale) {
  constexpr double kMost = INT32_MAX;
  Ref<Tensor> result = Tensor::allocate(DType::Int32, {static_cast<int64_t>(bias.size())});
  auto* numbers = static_cast<int32_t*>(result->mutableData());
  for (size_t i = 0; i < bias.size(); ++i) {
    const double unit =
        x.scaleNumber() * elementOf(*scale->constant, scale->constant->count() == 1 ? 0 : static_cast<int64_t>(i));
    const double number = std::nearbyint(bias[i] / unit);
    if (!(std::fabs(number) <= kMost)) return nullptr;
    numbers[i] = static_cast<int32_t>(number);
  }
  return rewriter.constant(std::move(result));
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

std::optional<QuantizedWeights> quantizedWeights(Rewriter& rewriter, const Value* value, int filterAxis) {
  const Node* node = producer(value, "DequantizeLinear");
  if (!node || value->type.dtype != DType::Float32 || !node->input(0)->constant) return std::nullopt;
  const Tensor& values = *node->input(0)->constant;
  if (!isByte(values.dtype()) || values.count() == 0 || values.shape().rank() <= filterAxis) return std::nullopt;
  const Value *scale = node->input(1), *zero = node->input(2);
  if (!scale->constant || scale->constant->dtype() != DType::Float32 || (zero && !zero->constant)) return std::nullopt;
  const readers::Quantization reader(node->attributes);
  const int64_t filters = values.shape()[filterAxis], count = scale->constant->count();
  const bool isPerFilter =
      scale->constant->shape().rank() == 1 && count == filters && reader.axis(values.shape().rank()) == filterAxis;
  if (reader.block != 0 || (count != 1 && !isPerFilter)) return std::nullopt;
  if (zero && zero->constant->count() != 1 && zero->constant->count() != count) return std::nullopt;
  Value* zeros = zero ? node->input(2) : rewriter.scalar(values.dtype(), 0);
  return QuantizedWeights{node->input(0)->constant, node->input(1), zeros, filters};
}

std::optional<std::vector<double>> quantizedBias(const Value* value, int64_t filters) {
  std::vector<double> result(static_cast<size_t>(filters), 0.0);
  if (!value) return result;
  const Node* node = producer(value, "DequantizeLinear");
  const Value* numbers = node ? node->input(0) : value;
  if (!numbers->constant || value->type.dtype != DType::Float32) return std::nullopt;
  const Tensor& tensor = *numbers->constant;
  const auto parameter = [&](size_t input) { return node ? node->input(input) : nullptr; };
  const Value *scale = parameter(1), *zero = parameter(2);
  const auto fits = [&](const Value* each) {
    return !each || (each->constant && (each->constant->count() == 1 || each->constant->count() == filters));
  };
  if (tensor.count() != filters || !fits(scale) || !fits(zero)) return std::nullopt;
  if (tensor.shape().rank() == 0 || tensor.shape().back() != filters) return std::nullopt;
  const auto at = [](const Value* each, int64_t i, double fallback) {
    return each ? elementOf(*each->constant, each->constant->count() == 1 ? 0 : i) : fallback;
  };
  for (int64_t i = 0; i < filters; ++i)
    result[static_cast<size_t>(i)] = (elementOf(tensor, i) - at(zero, i, 0)) * at(scale, i, 1);
  return result;
}

std::optional<QuantizedProduct> quantizedProduct(Rewriter& rewriter, const Node& quantize, std::string_view op,
                                                 int filterAxis) {
  const auto y = quantized(quantize);
  const auto clamped = y ? clampedInput(quantize) : std::nullopt;
  const Node* node = clamped ? producer(clamped->value, op) : nullptr;
  if (!node || !hasSingleUse(clamped->value)) return std::nullopt;
  const auto x = dequantized(node->input(0));
  auto w = x ? quantizedWeights(rewriter, node->input(1), filterAxis) : std::nullopt;
  const auto bias = w ? quantizedBias(node->input(2), w->filters) : std::nullopt;
  if (!bias) return std::nullopt;
  Value* integers = nullptr;
  if (node->input(2) && !(integers = integerBias(rewriter, *bias, *x, w->scale))) return std::nullopt;
  return QuantizedProduct{node, *x, *y, std::move(*w), *clamped, integers};
}

std::vector<Value*> convInputs(Rewriter& rewriter, const QuantizedProduct& product, Value* weights) {
  const QuantizedValue &x = product.x, &y = product.y;
  std::vector<Value*> inputs{x.value,        x.scale, zeroOf(rewriter, x), weights, product.w.scale,
                             product.w.zero, y.scale, zeroOf(rewriter, y)};
  if (product.bias) inputs.push_back(product.bias);
  return inputs;
}

Value* integerConv(Rewriter& rewriter, const QuantizedProduct& product, const Attributes& attributes,
                   const Node& quantize) {
  const DType dtype = product.y.dtype();
  Node* conv = rewriter.add("", "QLinearConv", convInputs(rewriter, product, rewriter.constant(product.w.values)),
                            attributes, {product.node, &quantize});
  if (!product.clamped.limits(dtype)) return conv->output();
  Value* low = rewriter.scalar(dtype, static_cast<double>(product.clamped.low));
  Value* high = rewriter.scalar(dtype, static_cast<double>(product.clamped.high));
  return rewriter.add("", "Clip", {conv->output(), low, high}, {}, {&quantize})->output();
}

}  // namespace max
