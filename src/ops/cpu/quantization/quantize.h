// SPDX-License-Identifier: Apache-2.0
// Loops of quantisation per CPU target.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace max {

// Rounds to nearest even, for |x| < 2^22: adding 1.5 * 2^23 drops the fraction.
inline constexpr float kRoundingMagic = 12582912.f;

// One element; the loops below do the same. Beyond 1024 the result is saturated anyway; NaN becomes the lower end.
template <class Q>
Q quantized(float x, float scale, float zero) {
  constexpr float kLow = std::numeric_limits<Q>::min(), kHigh = std::numeric_limits<Q>::max();
  const float bounded = std::min(std::max(-1024.f, x / scale), 1024.f);
  const float rounded = (bounded + kRoundingMagic) - kRoundingMagic;
  return static_cast<Q>(static_cast<int32_t>(std::min(std::max(rounded + zero, kLow), kHigh)));
}

struct QuantizeTable {
  void (*toUnsigned)(const float* x, uint8_t* y, int64_t count, float scale, float zero);
  void (*toSigned)(const float* x, int8_t* y, int64_t count, float scale, float zero);
  // (x - zero) * scale
  void (*fromUnsigned)(const uint8_t* x, float* y, int64_t count, float scale, float zero);
  void (*fromSigned)(const int8_t* x, float* y, int64_t count, float scale, float zero);
  // Extends [low, high] to include x; NaN is ignored.
  void (*range)(const float* x, int64_t count, float& low, float& high);
};
const QuantizeTable& quantizeTable();  // of cpuTarget()

}  // namespace max
