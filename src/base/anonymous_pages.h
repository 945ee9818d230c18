// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "base/align.h"
#include "base/checked.h"
#include "base/forbid.h"
#include "base/huge_pages.h"

namespace max {

// Memory that comes directly from the kernel, in huge pages if it nearly fills them. Pages that nobody has touched take
// none.
class AnonymousPages {
 public:
  // Throws std::bad_alloc.
  explicit AnonymousPages(size_t bytes) {
    const size_t taken = inHugePages(bytes);
    mapped_ = taken < kHugePage ? taken : checkedAdd(taken, kHugePage);
    start_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start_ == MAP_FAILED) throw std::bad_alloc();
    const auto start = reinterpret_cast<uintptr_t>(start_);
    data_ = reinterpret_cast<std::byte*>(taken < kHugePage ? start : alignUp(start, kHugePage));
    adviseHugePages(data_, taken);
  }
  AnonymousPages(const AnonymousPages&) = delete;
  AnonymousPages& operator=(const AnonymousPages&) = delete;
  ~AnonymousPages() {
    permit(start_, mapped_);  // the next mapping at this address is somebody else's
    munmap(start_, mapped_);
  }

  std::byte* data() const { return data_; }

 private:
  size_t mapped_;  // of huge pages, with what comes before the first
  void* start_;
  std::byte* data_;
};

}  // namespace max
