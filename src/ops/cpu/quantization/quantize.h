// SPDX-License-Identifier: Apache-2.0
// Loops of quantisation per CPU target.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "ops/cpu/elementwise/ops.h"

namespace max {

// Rounds to nearest even, for |x| < 2^22: adding 1.5 * 2^23 drops the fraction.
inline constexpr float kRoundingMagic = 12582912.f;

// Numbers beyond this are saturated anyway.
template <class Q>
inline constexpr float kQuantizedFar = sizeof(Q) == 1 ? 1024.f : 131072.f;

// One element; the loops below do the same. NaN becomes the lower end.
template <class Q>
Q quantized(float x, float scale, float zero) {
  constexpr float kLow = std::numeric_limits<Q>::min(), kHigh = std::numeric_limits<Q>::max(), kFar = kQuantizedFar<Q>;
  const float bounded = std::min(std::max(-kFar, x / scale), kFar);
  const float rounded = (bounded + kRoundingMagic) - kRoundingMagic;
  return static_cast<Q>(static_cast<int32_t>(std::min(std::max(rounded + zero, kLow), kHigh)));
}

// Scales and zero points of both operands of a sum, and of the result.
struct QuantizedSumNumbers {
  float scale[2], zero[2], resultScale, resultZero;
};

template <class Q>
struct QuantizeLoops {
  void (*quantize)(const float* x, Q* y, int64_t count, float scale, float zero);
  // (x - zero) * scale
  void (*dequantize)(const Q* x, float* y, int64_t count, float scale, float zero);
  TileFunction quantizeTile, dequantizeTile;  // the same as instructions of elementwise programs
  TileFunction sumTile;                       // of two operands of 8 bits, NULL = of more
};

// Scales and zero points (bytes) of each element, or of each 2^shift of them, at least 16.
struct EachScale {
  const float* scales;
  const uint8_t* zeros;  // NULL = none
  int shift;
  uint8_t flip;  // 0x80 = of signed bytes, which become unsigned ones by it
};
// Between float32 and bytes.
using EachFunction = void (*)(const void* x, void* y, int64_t count, const EachScale& scale);

struct QuantizeTable : QuantizeLoops<uint8_t>, QuantizeLoops<int8_t>, QuantizeLoops<uint16_t>, QuantizeLoops<int16_t> {
  // Extends [low, high] to include x; NaN is ignored.
  void (*range)(const float* x, int64_t count, float& low, float& high);
  // NULL where vectors are as wide as the baseline's.
  EachFunction quantizeEach, dequantizeEach;

  template <class Q>
  const QuantizeLoops<Q>& loops() const {
    return *this;
  }
};
const QuantizeTable& quantizeTable();  // of cpuTarget()

}  // namespace max
