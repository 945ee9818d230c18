// SPDX-License-Identifier: Apache-2.0
// Transposes of matrices with a few rows or columns: channels of an image that lie apart become pixels, and back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace max {

// 3 or 4 channels, of elements of 1, 2 or 4 bytes, as pixels mostly are.
constexpr bool isInterleaved(int64_t elementSize, int64_t channels) {
  return (channels == 3 || channels == 4) && elementSize <= 4;
}

struct InterleaveTable {
  // target[i * channels + c] = source[c][i] for `count` pixels; `step` is in bytes, from channel to channel.
  void (*join)(int64_t elementSize, const std::byte* source, int64_t step, std::byte* target, int64_t channels,
               int64_t count);
  // target[c][i] = source[i * channels + c].
  void (*split)(int64_t elementSize, const std::byte* source, std::byte* target, int64_t step, int64_t channels,
                int64_t count);
};
const InterleaveTable& interleaveTable();  // of cpuTarget()

}  // namespace max
