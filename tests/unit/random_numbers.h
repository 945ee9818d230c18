// SPDX-License-Identifier: Apache-2.0
// Random numbers of unit tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

namespace max {

using Random = std::mt19937;

// As std::uniform_real_distribution, which computes logarithms for each number: half of some tests' time.
inline double uniform(Random& random, double low, double high) {
  const auto first = static_cast<double>(random());
  const double fraction = (first + static_cast<double>(random()) * 0x1p32) * 0x1p-64;
  return std::min(fraction, 1 - 0x1p-53) * (high - low) + low;
}

inline void fillUniform(Random& random, float* values, int64_t count, double low, double high) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(uniform(random, low, high));
}

}  // namespace max
