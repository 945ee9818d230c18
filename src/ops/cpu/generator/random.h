// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend only on a seed and a position: the same on every CPU and for any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace max {

// A counter-based generator (Philox 4x32 of ten rounds): block i of a sequence is a function of the key and i.
class RandomSequence {
 public:
  RandomSequence(uint64_t key, uint64_t sequence) : key_(key), sequence_(sequence) {}

  uint64_t key() const { return key_; }
  uint64_t number() const { return sequence_; }

  std::array<uint32_t, 4> block(uint64_t index) const;
  // Two numbers in [0, 1) with 53 random bits each.
  std::array<double, 2> uniforms(uint64_t index) const;
  // Two independent numbers of the standard normal distribution.
  std::array<double, 2> normals(uint64_t index) const;

 private:
  uint64_t key_, sequence_;
};

// The generator of a random operator: with the attribute "seed", the same sequence in every run; without it, a new
// sequence per run from the process's generator, whose key comes from the operating system.
class RandomSource {
 public:
  explicit RandomSource(const Attributes& attributes);
  RandomSequence sequence() const;

 private:
  std::optional<uint64_t> seed_;
};

}  // namespace max
