// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include "graph/readers/quantization.h"

#include <algorithm>

#include "base/half.h"
#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

struct Limits {
  double low, high;
};

Limits limitsOf(DType dtype) {
  const double size = std::ldexp(1.0, static_cast<int>(bitsOf(dtype)));
  return isSigned(dtype) ? Limits{-size / 2, size / 2 - 1} : Limits{0, size - 1};
}

// NaN becomes the lower end.
double quantized(double scaled, double zeroPoint, const Limits& limits) {
  const double value = std::nearbyint(scaled) + zeroPoint;
  return value > limits.low ? std::min(value, limits.high) : limits.low;
}

// The type of the division, besides double.
double roundedTo(DType dtype, double value) {
  const auto narrow = static_cast<float>(value);
  if (dtype == DType::Float64) return value;
  if (dtype == DType::Float16) return floatFromHalf(halfFromFloat(narrow));
  return dtype == DType::BFloat16 ? floatFromBFloat16(bfloat16FromFloat(narrow)) : narrow;
}

// The scale of element k: one for all, one per index of the axis, or one per block.
struct ScaleIndex {
  int64_t inner = 1, size = 1, blocks = 1, block = 1;
  bool isBlocked = false;

  explicit ScaleIndex(const Call& call) {
    const Shape &data = call.in().shape, &scales = call.in(1).shape;
    if (scales.count() == 1) return;
    const readers::Quantization reader(call.node.attributes);
    const int axis = reader.axis(data.rank());
    inner = data.product(axis + 1, data.rank());
    size = data[axis];
    const int64_t given = reader.block;
    isBlocked = given > 0 && scales.rank() == data.rank();
    if (isBlocked) {
      block = given;
      blocks = scales[axis];
    }
    if (isBlocked ? blocks != size / block + (size % block != 0) : scales.count() != size)
      call.fail(MAX_STATUS_INVALID_ARGUMENT, "scales ", scales, " do not fit axis ", axis, " of ", data);
  }
  size_t operator()(int64_t k) const {
    const int64_t at = k / inner % size / block;
    return static_cast<size_t>(isBlocked ? (k / (inner * size) * blocks + at) * inner + k % inner : at);
  }
};

std::vector<double> zeroPoints(const Call& call, size_t count) {
  if (!call.has(2)) return std::vector<double>(count);
  if (call.in(2).count() != static_cast<int64_t>(count))
    call.fail(MAX_STATUS_INVALID_ARGUMENT, "zero points ", call.in(2).shape, " for scales ", call.in(1).shape);
  return load<double>(call.in(2));
}

void quantizeLinear(const Call& call) {
  std::vector<double> x = load<double>(call.in());
  const std::vector<double> scales = load<double>(call.in(1)), zeros = zeroPoints(call, scales.size());
  const ScaleIndex index(call);
  const Limits limits = limitsOf(call.out().dtype);
  const readers::Quantization reader(call.node.attributes);
  const DType precision = reader.precision != DType::Invalid ? reader.precision : call.in(1).dtype;
  SmallFloatRules rules;
  rules.saturate = reader.saturates;
  WorkCounter work;
  for (size_t k = 0; k < x.size(); ++k, work.pass(32)) {
    const size_t i = index(static_cast<int64_t>(k));
    // Ties must round as in float division.
    const double scaled = roundedTo(precision, roundedTo(precision, x[k]) / roundedTo(precision, scales[i]));
    x[k] = isFloat(call.out().dtype) ? scaled + zeros[i] : quantized(scaled, zeros[i], limits);
  }
  store(call.out(), x, rules);
}

void dequantizeLinear(const Call& call) {
  std::vector<double> x = load<double>(call.in());
  const std::vector<double> scales = load<double>(call.in(1)), zeros = zeroPoints(call, scales.size());
  const ScaleIndex index(call);
  WorkCounter work;
  for (size_t k = 0; k < x.size(); ++k, work.pass(32)) {
    const size_t i = index(static_cast<int64_t>(k));
    x[k] = (x[k] - zeros[i]) * scales[i];
  }
  store(call.out(), x);
}

void dynamicQuantizeLinear(const Call& call) {
  std::vector<double> x = load<double>(call.in());
  float low = 0, high = 0;
  WorkCounter work;
  for (const double value : x) {
    work.pass(2);
    low = std::min(low, static_cast<float>(value));
    high = std::max(high, static_cast<float>(value));
  }
  const float range = (high - low) / 255;
  const float scale = range == 0 ? 1 : range;
  const double zero = std::clamp<double>(std::nearbyint((0 - low) / scale), 0, 255);
  for (double& value : x) {
    value = quantized(static_cast<float>(value) / scale, zero, {0, 255});
    work.pass(8);
  }
  if (call.hasOutput(0)) store(call.out(0), x);
  if (call.hasOutput(1)) store(call.out(1), std::vector<double>{scale});
  if (call.hasOutput(2)) store(call.out(2), std::vector<double>{zero});
}

// Bytes as the numbers that they hold, the first one in the low bits.
std::vector<double> unpacked(const Argument& argument, int64_t bits) {
  std::vector<double> result = load<double>(argument);
  if (argument.dtype != DType::UInt8 || bits == 8) return result;
  std::vector<double> numbers;
  WorkCounter work;
  for (const double byte : result)
    for (int64_t shift = 0; shift < 8; shift += bits, work.pass(4))
      numbers.push_back(static_cast<double>(static_cast<int64_t>(byte) >> shift & ((1 << bits) - 1)));
  return numbers;
}

void gatherBlockQuantized(const Call& call) {
  const RequestInputs inputs = call.read();
  const readers::GatheredBlocks read(*inputs);
  const bool bytes = read.isPacked;
  const int64_t bits = read.bits, given = read.block;
  Shape shape = call.in().shape;
  if (bytes) shape[shape.rank() - 1] *= 8 / bits;
  const int rank = shape.rank(), gathered = read.gatheredAxis(), axis = read.quantizedAxis();
  const std::vector<double> data = unpacked(call.in(), bits), scales = load<double>(call.in(2)),
                            zeros = call.has(3) ? unpacked(call.in(3), bits) : std::vector<double>();
  const std::vector<int64_t> indices = loadIntegers(call.in(1));
  const Shape& scaleShape = call.in(2).shape;
  const int64_t zeroColumns = call.has(3) ? call.in(3).shape.back() * (bytes ? 8 / bits : 1) : 1;
  const double middle = bytes ? 1 << (bits - 1) : 0;
  const int64_t count = static_cast<int64_t>(indices.size()), inner = shape.product(gathered + 1, rank);
  std::vector<double> out = repeated<double>(call.out().count());
  WorkCounter work;
  for (size_t k = 0; k < out.size(); ++k, work.pass(64)) {
    const int64_t at = static_cast<int64_t>(k), size = shape[gathered];
    int64_t index = indices[static_cast<size_t>(at / inner % count)];
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size) continue;  // zeros
    int64_t element = (at / (inner * count) * size + index) * inner + at % inner, rest = element, scale = 0, stride = 1;
    for (int i = rank - 1; i >= 0; rest /= shape[i--]) {
      const int64_t place = i == axis            ? (given ? rest % shape[i] / given : 0)
                            : scaleShape[i] == 1 ? 0
                                                 : rest % shape[i];
      scale += place * stride;
      stride *= scaleShape[i];
    }
    const int64_t columns = std::max<int64_t>(scaleShape.back(), 1);
    const size_t zero = static_cast<size_t>(scale / columns * zeroColumns + scale % columns);
    out[k] = (data[static_cast<size_t>(element)] - (zeros.empty() ? middle : zeros[zero])) *
             scales[static_cast<size_t>(scale)];
  }
  store(call.out(), out);
}

// Signed bytes count as those of two's complement.
void mapBytes(const Call& call) {
  const std::vector<int64_t> x = load<int64_t>(call.in()), table = load<int64_t>(call.in(1));
  std::vector<double> y(x.size());
  WorkCounter work;
  for (size_t i = 0; i < x.size(); ++i, work.pass())
    y[i] = static_cast<double>(table[static_cast<size_t>(x[i] < 0 ? x[i] + 256 : x[i])]);
  store(call.out(), y);
}

const OpRow kRows[] = {
    {"", "QuantizeLinear", kReference<quantizeLinear>},
    {"", "DequantizeLinear", kReference<dequantizeLinear>},
    {"", "DynamicQuantizeLinear", kReference<dynamicQuantizeLinear>},
    {kMaxDomain, "MapBytes", kReference<mapBytes>},
    {"com.microsoft", "GatherBlockQuantized", kReference<gatherBlockQuantized>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceQuantizeOps() { return reference::kRows; }

}  // namespace max
