// SPDX-License-Identifier: Apache-2.0
// Huge pages for memory that is large: fewer page faults, and fewer misses of the chip's table of pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "base/align.h"

namespace max {

inline constexpr size_t kHugePage = size_t{2} << 20;

// Of the block's whole huge pages. A hint: kernels may have none.
inline void adviseHugePages(void* data, size_t bytes) {
  const uintptr_t first = alignUp(reinterpret_cast<uintptr_t>(data), kHugePage);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + bytes) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace max
