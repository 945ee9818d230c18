// SPDX-License-Identifier: Apache-2.0
// Random numbers of unit tests.
#pragma once

#include <cstdint>

namespace max {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), high halves. Without
// optimisation, as sanitizers compile tests, std::mt19937 takes several times as long, and
// std::uniform_real_distribution computes logarithms for each number.
class Random {
 public:
  using result_type = uint32_t;

  explicit Random(uint64_t seed) : state_(seed) {}
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return UINT32_MAX; }

  uint32_t operator()() { return static_cast<uint32_t>(next() >> 32); }
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // at least 0, below 1

 private:
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

inline double uniform(Random& random, double low, double high) { return random.fraction() * (high - low) + low; }

inline void fillUniform(Random& random, float* values, int64_t count, double low, double high) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(uniform(random, low, high));
}

}  // namespace max
