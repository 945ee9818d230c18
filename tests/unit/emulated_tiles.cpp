// SPDX-License-Identifier: Apache-2.0
#include "emulated_tiles.h"

#include <limits>

// Tiles are no memory of the program's, and their shapes have been checked: these loops are the same under a sanitizer.
#define MAX_OF_TILES __attribute__((no_sanitize("address", "undefined", "thread")))

namespace max::test {

namespace {

constexpr float kSmallest = std::numeric_limits<float>::min();

// Clang inlines no function of the standard library here, whose code is looked at; but what it knows itself.
MAX_OF_TILES inline float flushed(float value) {
  return __builtin_fabsf(value) < kSmallest ? __builtin_copysignf(0.f, value) : value;
}

using Row = float[TileLimits::kWords][2];

MAX_OF_TILES void readRow(const uint8_t* bytes, int count, Row& words) {
  for (int i = 0; i < count / 2; ++i) {
    uint16_t element;
    __builtin_memcpy(&element, bytes + 2 * i, sizeof(element));
    words[i / 2][i % 2] = flushed(__builtin_bit_cast(float, uint32_t{element} << 16));
  }
}

}  // namespace

MAX_OF_TILES void EmulatedTiles::addPairs(State& s, int sum, int a, int b) {
  Row left[TileLimits::kRows], right[TileLimits::kRows];
  for (int row = 0; row < s.rows[a]; ++row) readRow(s.tiles[a][row], s.rowBytes[a], left[row]);
  for (int row = 0; row < s.rows[b]; ++row) readRow(s.tiles[b][row], s.rowBytes[b], right[row]);
  for (int m = 0; m < s.rows[sum]; ++m)
    for (int n = 0; n < s.rowBytes[sum] / 4; ++n) {
      float even = 0, odd = 0;
      for (int k = 0; k < s.rowBytes[a] / 4; ++k) {
        even = flushed(__builtin_fmaf(left[m][k][0], right[k][n][0], even));
        odd = flushed(__builtin_fmaf(left[m][k][1], right[k][n][1], odd));
      }
      s.set(sum, m, n, flushed(flushed(s.get<float>(sum, m, n)) + flushed(even + odd)));
    }
}

MAX_OF_TILES void EmulatedTiles::addBytes(State& s, int sum, int a, int b) {
  for (int m = 0; m < s.rows[sum]; ++m)
    for (int n = 0; n < s.rowBytes[sum] / 4; ++n) {
      uint32_t result = s.get<uint32_t>(sum, m, n);
      for (int k = 0; k < s.rowBytes[a]; ++k)
        result += static_cast<uint32_t>(s.tiles[a][m][k] * static_cast<int8_t>(s.tiles[b][k / 4][4 * n + k % 4]));
      s.set(sum, m, n, result);
    }
}

}  // namespace max::test
