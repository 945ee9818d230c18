// SPDX-License-Identifier: Apache-2.0
// How many items of a parallel loop are worth passing to a thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace max {

// The number of items with `wanted` operations in total, each with the product of `factors`. At least one; products of
// sizes from files may overflow.
inline int64_t grainOf(int64_t wanted, std::initializer_list<int64_t> factors) {
  double operations = 1;
  for (const int64_t factor : factors) operations *= static_cast<double>(std::max<int64_t>(factor, 1));
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(wanted) / operations));
}

}  // namespace max
