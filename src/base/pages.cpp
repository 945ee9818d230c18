// SPDX-License-Identifier: Apache-2.0
#include "base/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/align.h"
#include "base/huge_pages.h"
#include "base/thread_pool.h"

// Of Linux 5.14; older headers lack them, older kernels refuse them.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace max {

namespace {

constexpr uintptr_t kPage = 4096;

void populate(uintptr_t first, uintptr_t last, int advice) noexcept {
  first = first / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), alignUp(last, kPage) - first, advice);
}

}  // namespace

void populateForReading(const void* data, size_t bytes) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(data);
  if (bytes > 0) populate(first, first + bytes, MADV_POPULATE_READ);
}

// A chunk is a huge page, so that no two lanes want the same one.
void populateForWriting(void* data, size_t bytes, int lanes) {
  const auto first = reinterpret_cast<uintptr_t>(data), last = first + bytes;
  const uintptr_t base = first / kHugePage * kHugePage;
  if (bytes == 0) return;
  parallelFor(lanes, static_cast<int64_t>((last - base - 1) / kHugePage + 1), 1, [&](int64_t begin, int64_t end, int) {
    const auto at = [&](int64_t page) { return base + static_cast<uintptr_t>(page) * kHugePage; };
    populate(std::max(first, at(begin)), std::min(last, at(end)), MADV_POPULATE_WRITE);
  });
}

void populateForWriting(void* data, size_t bytes) noexcept {
  constexpr size_t kFewest = 4 * kPage;
  const auto first = reinterpret_cast<uintptr_t>(data);
  if (bytes >= kFewest) populate(first, first + bytes, MADV_POPULATE_WRITE);
}

}  // namespace max
