// SPDX-License-Identifier: Apache-2.0
// Huge pages for memory that is large: fewer page faults, and fewer misses of the chip's table of pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "base/align.h"
#include "base/checked.h"

namespace max {

inline constexpr size_t kHugePage = size_t{2} << 20;

// What a block of these bytes takes: whole huge pages if they are three quarters full, since the kernel gives them four
// times as fast as small ones.
inline size_t inHugePages(size_t bytes) {
  const size_t whole = checkedAlignUp(bytes, kHugePage);
  return bytes / 3 >= whole / 4 ? whole : bytes;
}

// Of the block's whole huge pages. A hint: kernels may have none.
inline void adviseHugePages(void* data, size_t bytes) {
  const uintptr_t first = alignUp(reinterpret_cast<uintptr_t>(data), kHugePage);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + bytes) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace max
