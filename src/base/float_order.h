// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace max {

// Rises with the number, as unsigned integers do; -0 is 0. Without a jump, which would often be predicted wrongly. NaN
// has no order.
inline uint32_t floatOrder(float number) {
  const uint32_t bits = std::bit_cast<uint32_t>(number + 0.f);
  return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 1u << 31);
}

}  // namespace max
