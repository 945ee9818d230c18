// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace max {

// Of the bits of numbers that are not -0, or of vectors of them: rises with the number, as signed integers do. Without
// a jump, which would often be predicted wrongly. NaN has no order.
template <class Bits>
Bits signedFloatOrder(Bits bits) {
  return bits ^ ((bits >> 31) & std::numeric_limits<int32_t>::max());
}

// The same as an unsigned integer; -0 is 0.
inline uint32_t floatOrder(float number) {
  return static_cast<uint32_t>(signedFloatOrder(std::bit_cast<int32_t>(number + 0.f))) ^ 1u << 31;
}

}  // namespace max
