// SPDX-License-Identifier: Apache-2.0
// Plain loops over a tile, of which the compiler makes short code: pieces that are vectors of known length, which a
// repeated value fills, too, and what is left one by one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/cpu/elementwise/ops.h"

namespace max {

template <class A>
inline constexpr int64_t kPiece = std::min<int64_t>(16, kSplatBytes / static_cast<int64_t>(sizeof(A)));

// The next index of a short loop, of which the compiler makes neither vectors nor several.
inline int64_t nextOne(int64_t i) {
  asm volatile("" : "+r"(i));
  return i + 1;
}

}  // namespace max
