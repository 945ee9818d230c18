// SPDX-License-Identifier: Apache-2.0
// Tells the address sanitizer which parts of a block are unused, so that it detects accesses past a value within the
// block. Other builds do nothing.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace max {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kForbidsMemory = true;

inline void forbid(const void* data, size_t bytes) { __asan_poison_memory_region(data, bytes); }
inline void permit(const void* data, size_t bytes) { __asan_unpoison_memory_region(data, bytes); }
#else
inline constexpr bool kForbidsMemory = false;

inline void forbid(const void*, size_t) {}
inline void permit(const void*, size_t) {}
#endif

// The first `used` bytes of a block of `size` bytes are in use.
inline void permitFirst(const void* data, size_t used, size_t size) {
  permit(data, used);
  if (size > used) forbid(static_cast<const char*>(data) + used, size - used);
}

}  // namespace max
