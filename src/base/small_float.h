// SPDX-License-Identifier: Apache-2.0
// Scalar conversions of floating-point types of 8 bits and less.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace max {

// How float8_e8m0fnu, which only has powers of two, rounds other numbers.
enum class ScaleRounding { Up, Down, Nearest };  // nearest: ties away from zero

struct SmallFloatRules {
  // Numbers beyond the largest become the largest; otherwise NaN, or infinity if the type has one.
  bool saturate = true;
  ScaleRounding scaleRounding = ScaleRounding::Up;
};

inline bool isSmallFloat(DType dtype) { return isFloat(dtype) && bitsOf(dtype) <= 8; }

// The number encoded by the low bits of `code`. `dtype` is a floating-point type of at most 8 bits.
float floatFromSmall(DType dtype, uint8_t code);
// Rounds to nearest even. Types without NaN store zero for it; float8_e8m0fnu drops signs.
uint8_t smallFromDouble(DType dtype, double value, SmallFloatRules rules = {});

}  // namespace max
