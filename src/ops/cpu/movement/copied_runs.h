// SPDX-License-Identifier: Apache-2.0
// Copies of short runs of bytes, and of many alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace max {

inline constexpr int64_t kCopiedPiece = 16;

// At least one piece, without a call of memcpy; the last piece overlaps the one before it.
inline void copyPieces(const std::byte* from, int64_t bytes, std::byte* to) {
  for (int64_t i = 0; i < bytes - kCopiedPiece; i += kCopiedPiece) std::memcpy(to + i, from + i, kCopiedPiece);
  std::memcpy(to + bytes - kCopiedPiece, from + bytes - kCopiedPiece, kCopiedPiece);
}

// Repeats the run that is at `run`, so that there are `count`, by copy(from, to, bytes): what is there already is
// copied as a whole, while it is in the first cache.
template <class Copy>
void repeatRun(std::byte* run, int64_t bytes, int64_t count, Copy copy) {
  constexpr int64_t kMostBytes = 8192;
  for (int64_t done = bytes, all = count * bytes; done < all;) {
    int64_t part = std::min(done, all - done);
    if (part > kMostBytes) part = std::max(kMostBytes / bytes * bytes, bytes);
    copy(run, run + done, part);
    done += part;
  }
}

}  // namespace max
