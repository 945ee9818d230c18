// SPDX-License-Identifier: Apache-2.0
// Where an allocator's memory comes from: a source that takes large pieces only, and small blocks that share one.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "device/gpu/allocator_blocks.h"

namespace max::gpu {

// Source of blocks. Thread-safe.
class BlockSource : public RefCounted {
 public:
  // Aligned to kSourceAlignment; NULL if out of memory. Throws other failures.
  virtual void* allocateBlock(size_t bytes) = 0;
  // May wait for all work of the device, including host functions.
  virtual void freeBlock(void* block) noexcept = 0;
};

// Thread-safe. The source is called without the lock.
class BlockSegments {
 public:
  // `granule`: the size of a segment, a power of two; 0 = the source gives any size, and nothing is shared.
  BlockSegments(BlockSource& source, size_t granule) : source_(source), granule_(granule) {}

  // Whether blocks share pieces, so that a freed one may give nothing back to the source.
  bool isShared() const { return granule_ != 0; }
  // What a block of `size` bytes is made to be.
  size_t sizeOf(size_t size) const;
  // What the source is asked for if no segment has room.
  size_t neededFor(size_t size) const { return isSmall(size) ? granule_ : size; }

  // From a segment that is there; NULL = none has room.
  void* carve(size_t size);
  // From the source, of which neededFor(size) is taken; NULL = it is out of memory.
  void* fetch(size_t size);
  // Returns how much went back to the source.
  size_t giveBack(void* block, size_t size) noexcept;

 private:
  bool isSmall(size_t size) const { return size <= granule_ / 2; }

  BlockSource& source_;
  const size_t granule_;
  std::mutex mutex_;
  std::map<char*, BlockRegion> segments_;  // by the mutex
};

}  // namespace max::gpu
