// SPDX-License-Identifier: Apache-2.0
// Blocks of an accelerator's memory, and the preallocated region that they can be carved from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <typeinfo>
#include <vector>

#include "base/tensor.h"
#include "device/gpu/allocator_streams.h"

namespace max::gpu {

class CachingAllocator;

// A block in use. Releasing it does not call the driver or take a lock: any thread may, including host functions.
class CachedBlock final : public Storage {
 public:
  // Records that work using the block was queued on the stream. Any thread; does not allocate.
  void noteUse(const OrderedStream& stream) {
    if (&stream == owner_.get() || (uses_.load(std::memory_order_relaxed) & stream.bit()) != 0) return;
    uses_.fetch_or(stream.bit(), std::memory_order_relaxed);
  }
  // Whether it is memory of a driver's devices, or of the host for them; by the table of its streams.
  bool isOf(const StreamTable& streams) const;
  // NULL if the memory is of another kind.
  static CachedBlock* of(Storage* storage) {
    if (!storage) return nullptr;
    const Storage& memory = *storage;
    return typeid(memory) == typeid(CachedBlock) ? static_cast<CachedBlock*>(storage) : nullptr;
  }

 private:
  friend class CachingAllocator;
  friend class BlockLists;
  CachedBlock() = default;
  // Whether the work to wait for cannot be waited for yet.
  bool isHeldUp() const;
  void dispose() noexcept override;

  CachingAllocator* allocator_ = nullptr;  // counted while the block is in use
  void* base_ = nullptr;
  size_t reserved_ = 0;  // bytes at `base_`
  bool carved_ = false;  // from the preallocated region
  Ref<OrderedStream> owner_;
  std::atomic<uint64_t> uses_{0};
  std::vector<Ref<StreamMark>> marks_;  // work to wait for before the block is reused
  CachedBlock* next_ = nullptr;
};

// Preallocated memory, cut into blocks and holes. A hole released by a stream is only for later work on that stream.
class BlockRegion {
 public:
  void open(void* base, size_t size);
  bool isOpen() const { return base_ != nullptr; }
  // A single hole, free for any stream.
  bool isWhollyFree() const {
    return holes_.size() == 1 && holes_.begin()->second.size == size_ && !holes_.begin()->second.owner;
  }
  void* base() const { return base_; }
  size_t size() const { return size_; }
  void close();

  // NULL if `stream` (NULL = the host) has no hole that is large enough to use at once.
  void* carve(size_t size, OrderedStream* stream);
  void giveBack(void* base, size_t size, Ref<OrderedStream> owner);
  bool hasHole(const OrderedStream& stream) const;
  // Removes a hole of `stream` and returns its size; 0 = there is none.
  size_t takeHole(const OrderedStream& stream, void*& base);

 private:
  struct Hole {
    size_t size;
    Ref<OrderedStream> owner;  // NULL = any stream's
  };
  using Holes = std::map<char*, Hole>;

  char* base_ = nullptr;
  size_t size_ = 0;
  Holes holes_;
};

}  // namespace max::gpu
