// SPDX-License-Identifier: Apache-2.0
// Transposes of squares whose sides are whole cache lines, in vectors of several blocks of 16 bytes, and copies of
// lines.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace max {

// The side of a square, in elements.
constexpr int64_t sideOfSquare(int64_t elementSize) { return elementSize >= 4 ? 16 : 64 / elementSize; }

// `streams`: lines of the target, at multiples of 64 bytes, are stored past the caches.
using TransposeLines = void (*)(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep,
                                bool streams);
struct TransposeLinesTable {
  TransposeLines ofSize[4];  // of elements of 1, 2, 4 or 8 bytes; NULL where vectors are one block or less
  // Stores whole lines, at multiples of 64 bytes, past the caches; NULL with the others.
  void (*stream)(const std::byte* source, std::byte* target, int64_t bytes);
};
const TransposeLinesTable& transposeLinesTable();  // of cpuTarget()

inline TransposeLines transposeLines(int64_t elementSize) {
  return transposeLinesTable().ofSize[std::countr_zero(static_cast<uint64_t>(elementSize))];
}

}  // namespace max
