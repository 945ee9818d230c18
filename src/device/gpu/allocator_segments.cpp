// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/allocator_segments.h"

#include <iterator>
#include <new>

#include "base/checked.h"

namespace max::gpu {

size_t BlockSegments::sizeOf(size_t size) const {
  if (granule_ == 0 || isSmall(size)) return size;
  return checkedAdd(size, granule_ - 1) / granule_ * granule_;
}

void* BlockSegments::carve(size_t size) {
  if (!isSmall(size)) return nullptr;
  const std::lock_guard lock(mutex_);
  for (auto& [base, segment] : segments_)
    if (void* block = segment.carve(size, nullptr)) return block;
  return nullptr;
}

void* BlockSegments::fetch(size_t size) {
  void* base = source_.allocateBlock(neededFor(size));
  if (!base || !isSmall(size)) return base;
  try {
    const std::lock_guard lock(mutex_);
    BlockRegion& segment = segments_[static_cast<char*>(base)];
    segment.open(base, granule_);
    return segment.carve(size, nullptr);
  } catch (const std::bad_alloc&) {
    source_.freeBlock(base);
    throw;
  }
}

// Without host memory for the hole, it is lost until the end.
size_t BlockSegments::giveBack(void* block, size_t size) noexcept {
  if (!isSmall(size)) {
    source_.freeBlock(block);
    return size;
  }
  void* base = nullptr;
  try {
    const std::lock_guard lock(mutex_);
    const auto segment = std::prev(segments_.upper_bound(static_cast<char*>(block)));
    segment->second.giveBack(block, size, nullptr);
    if (!segment->second.isWhollyFree()) return 0;
    base = segment->first;
    segments_.erase(segment);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  source_.freeBlock(base);
  return granule_;
}

}  // namespace max::gpu
