// SPDX-License-Identifier: Apache-2.0
// Results that are stored past the caches. A store into a cache reads the line first, which results of this size do not
// pay back: when they are read, from their start, that has left the caches.
#pragma once

#include <cstdint>

namespace max {

inline constexpr int64_t kStreamedBytes = int64_t{16} << 20;
inline constexpr int64_t kStreamedTraffic = int64_t{20} << 20;  // with what is read, where that is known to be far
inline constexpr int64_t kStreamedLine = 64;

// Whether a result can be stored so whose parts begin every `step` bytes. `from`: what is read at the same time; a
// result in its place finds its lines in a cache.
inline bool canStream(const void* to, int64_t step, const void* from) {
  return step % kStreamedLine == 0 && to != from && reinterpret_cast<uintptr_t>(to) % kStreamedLine == 0;
}

// Whether to store it so.
inline bool isStreamed(const void* to, int64_t bytes, int64_t step, const void* from) {
  return bytes >= kStreamedBytes && canStream(to, step, from);
}

}  // namespace max
