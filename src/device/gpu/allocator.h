// SPDX-License-Identifier: Apache-2.0
// A stream-ordered caching allocator for an accelerator's memory and for host memory that it can access.
//
// A block returns to the stream it was allocated for: later work on that stream may use it at once, since it comes
// after all earlier work. Uses on other streams are recorded in the block (CachedBlock::noteUse), which waits for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/gpu/allocator_blocks.h"
#include "device/gpu/allocator_segments.h"

namespace max::gpu {

// Alignment that drivers guarantee, also for page-locked host memory.
inline constexpr size_t kSourceAlignment = 256;

struct AllocatorOptions {
  std::string owner;         // starts the message of a failed request: "Out of memory on gpu:0"
  uint64_t limit = 0;        // most bytes to take from the source; 0 = no limit
  size_t granularity = 512;  // sizes are multiples of it, a power of two
  // The source takes no less than this, and multiples of it; a power of two, 0 = any size. A limit below it bounds what
  // is asked for, since nothing can bound what is taken.
  size_t granule = 0;
  uint64_t preallocated = 0;
  // The host accesses blocks outside stream order, so all work that uses one must be done before reuse.
  bool hostAccess = false;
};

struct AllocatorStats {
  uint64_t live = 0;      // bytes requested by blocks in use
  uint64_t peakLive = 0;  // largest value of `live` so far
  uint64_t reserved = 0;  // bytes taken from the source
  uint64_t limit = 0;
};

// Thread-safe.
class CachingAllocator final : public RefCounted {
 public:
  // `streams` is the driver's table, which its devices share. Preallocates.
  CachingAllocator(Ref<BlockSource> source, Ref<EventSource> events, Ref<StreamTable> streams,
                   AllocatorOptions options);
  ~CachingAllocator() override;

  // Streams of the device, including the default one, must be opened here before they allocate or are recorded, and
  // closed before the driver's stream is destroyed. The handle may outlive that.
  // `isShared`: other code has it too.
  Ref<OrderedStream> openStream(void* native, bool isShared = false);
  void closeStream(OrderedStream& stream) noexcept;

  // `stream`: an open stream of this allocator, NULL only with hostAccess. `alignment`: a power of two, 0 = any.
  // Throws RESOURCE_EXHAUSTED that names the bytes requested, in use and allowed.
  Ref<Storage> allocate(size_t bytes, size_t alignment, OrderedStream* stream);
  // Returns all unused memory to the source; waits for queued work that uses it.
  void trim();
  AllocatorStats stats() const;

 private:
  friend class CachedBlock;
  using Lock = std::unique_lock<std::mutex>;
  struct Request {
    size_t bytes;
    size_t size;    // of the block
    size_t carved;  // the same in the preallocated region
    OrderedStream* stream;
    bool sourceIsDry = false;
    bool cannotWait = false;
  };

  static void takeBack(CachedBlock& block) noexcept;
  void requireThisProcess() const;
  uint64_t room() const;
  [[noreturn]] void failExhausted(const Request& request) const;
  Ref<Storage> handOut(CachedBlock& block, size_t alignment, const Request& request);

  // All of these need the lock; those that take it as an argument release it while they call the driver. Blocks that a
  // thread has in hand meanwhile are in no list: who finds none waits for it.
  template <class Function>
  void withoutLock(Lock& lock, Function&& function);
  CachedBlock* obtain(Request& request, Lock& lock);
  CachedBlock* takeIdle(const Request& request);
  CachedBlock* carve(const Request& request);
  CachedBlock* fetch(Request& request, Lock& lock);
  void* fetchBase(Request& request, Lock& lock);
  CachedBlock* takeBusy(const Request& request, Lock& lock);
  CachedBlock* popBusy(const Request& request);
  void reclaim(const Request& request, bool everything, Lock& lock);
  void shrink(uint64_t wanted, Lock& lock);
  void markOwner(CachedBlock& block);  // without the lock
  void takeCached(uint64_t wanted, std::vector<CachedBlock*>& blocks);
  uint64_t finish(std::vector<CachedBlock*>& blocks, std::exception_ptr& failure) noexcept;
  void takeHoles(OrderedStream& stream, std::vector<CachedBlock*>& blocks);
  bool closeRegion(Lock& lock) noexcept;
  void collectFreed(Lock& lock);
  void settle(CachedBlock* used, Lock& lock);
  void store(CachedBlock& block);
  bool pollWaiting(Lock& lock);
  CachedBlock* newNode();

  const Ref<BlockSource> source_;
  const Ref<EventPool> events_;
  const Ref<StreamTable> streams_;
  const AllocatorOptions options_;
  const uint32_t generation_;
  BlockSegments segments_;

  std::atomic<CachedBlock*> freed_{nullptr};  // released, not collected yet
  std::atomic<uint64_t> live_{0};
  std::atomic<uint64_t> peakLive_{0};
  std::atomic<uint64_t> reserved_{0};

  // Guards the members below.
  std::mutex mutex_;
  std::condition_variable released_;
  int inHand_ = 0;  // threads that have blocks in hand
  std::vector<Ref<OrderedStream>> open_;
  BlockLists idle_;                    // of no stream
  std::vector<CachedBlock*> waiting_;  // for their marks; the first is polled next
  BlockRegion region_;
  std::vector<CachedBlock*> spare_;  // without memory
  std::vector<std::unique_ptr<CachedBlock>> all_;
};

// 99 % of what is free.
constexpr uint64_t defaultMemoryLimit(uint64_t freeBytes) { return freeBytes - freeBytes / 100; }

}  // namespace max::gpu
