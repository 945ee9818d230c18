// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/allocator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "base/align.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/fork.h"
#include "device/gpu/host_queue.h"
#include "device/memory_use.h"

namespace max::gpu {

namespace {

constexpr uint64_t kEverything = std::numeric_limits<uint64_t>::max();
// Maximum number of blocks whose marks one allocation queries; each query is a driver call.
constexpr size_t kPolledAtOnce = 8;

void pushFreed(std::atomic<CachedBlock*>& list, CachedBlock* block, CachedBlock*& next) noexcept {
  next = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(next, block, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace

CachingAllocator::CachingAllocator(Ref<BlockSource> source, Ref<EventSource> events, Ref<StreamTable> streams,
                                   AllocatorOptions options)
    : source_(std::move(source)),
      events_(makeRef<EventPool>(std::move(events))),
      streams_(std::move(streams)),
      options_(std::move(options)),
      generation_(forkGeneration()),
      segments_(*source_, options_.limit != 0 && options_.limit < options_.granule ? 0 : options_.granule) {
  if (options_.preallocated == 0) return;
  const size_t unit = std::max(options_.granularity, segments_.isShared() ? options_.granule : 1);
  const auto size = static_cast<size_t>(checkedAdd(options_.preallocated, unit - 1) / unit * unit);
  Request request{options_.preallocated, size, size, nullptr};
  void* base = size <= room() ? source_->allocateBlock(size) : nullptr;
  request.sourceIsDry = size <= room();
  if (!base) failExhausted(request);
  reserved_ = size;
  region_.open(base, size);
}

// No block is in use any more, since each holds the allocator.
CachingAllocator::~CachingAllocator() {
  if (generation_ != forkGeneration()) return;
  try {
    trim();
  } catch (const std::exception&) {  // the device is lost: nothing will use the others
  }
  for (const std::unique_ptr<CachedBlock>& block : all_)
    if (block->base_ && !block->carved_) segments_.giveBack(block->base_, block->reserved_);
  if (region_.isOpen()) source_->freeBlock(region_.base());
}

void CachingAllocator::requireThisProcess() const {
  require(generation_ == forkGeneration(), MAX_STATUS_FAILED_PRECONDITION,
          "Memory of an accelerator belongs to the parent process: forked");
}

Ref<OrderedStream> CachingAllocator::openStream(void* native, bool isShared) {
  requireThisProcess();
  Ref<OrderedStream> stream = streams_->open(events_, native, isShared);
  const std::lock_guard lock(mutex_);
  open_.push_back(stream);
  return stream;
}

void CachingAllocator::closeStream(OrderedStream& stream) noexcept {
  if (generation_ != forkGeneration()) return;
  const Ref<OrderedStream> kept(&stream);
  streams_->close(stream);
  const std::lock_guard lock(mutex_);
  stream.closed_ = true;
  std::erase(open_, kept);
  try {
    std::vector<CachedBlock*> left;
    takeHoles(stream, left);
    for (CachedBlock* block : left) store(*block);
    while (CachedBlock* block = stream.blocks_.popLargest()) store(*block);
  } catch (const std::exception&) {  // no host memory for the region's holes: they are lost until the end
  }
}

Ref<Storage> CachingAllocator::allocate(size_t bytes, size_t alignment, OrderedStream* stream) {
  requireThisProcess();
  require(alignment == 0 || std::has_single_bit(alignment), MAX_STATUS_INVALID_ARGUMENT,
          "Alignment is not a power of two: ", alignment);
  const size_t padding = alignment > kSourceAlignment ? alignment - kSourceAlignment : 0;
  const size_t carved = BlockLists::rounded(checkedAdd(bytes, padding), options_.granularity);
  Request request{bytes, segments_.sizeOf(carved), carved, stream};
  Lock lock(mutex_);
  CachedBlock* block = obtain(request, lock);
  if (!block) failExhausted(request);
  return handOut(*block, alignment, request);
}

Ref<Storage> CachingAllocator::handOut(CachedBlock& block, size_t alignment, const Request& request) {
  const auto base = reinterpret_cast<uintptr_t>(block.base_);
  const uintptr_t unit = std::max<size_t>(alignment, 1);
  block.data_ = static_cast<char*>(block.base_) + (alignUp(base, unit) - base);
  block.size_ = request.bytes;
  block.owner_ = options_.hostAccess ? nullptr : Ref<OrderedStream>(request.stream);
  block.allocator_ = this;
  block.revive();
  retain();
  const uint64_t live = live_.fetch_add(request.bytes, std::memory_order_relaxed) + request.bytes;
  uint64_t peak = peakLive_.load(std::memory_order_relaxed);
  while (peak < live && !peakLive_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
  return Ref<Storage>::adopt(&block);
}

bool CachedBlock::isOf(const StreamTable& streams) const { return allocator_->streams_.get() == &streams; }

bool CachedBlock::isHeldUp() const {
  return std::ranges::any_of(marks_, [](const Ref<StreamMark>& mark) { return mark->isHeldUp(); });
}

void CachedBlock::dispose() noexcept {
  forgetUse(*this);
  CachingAllocator::takeBack(*this);
}

void CachingAllocator::takeBack(CachedBlock& block) noexcept {
  CachingAllocator* allocator = block.allocator_;
  allocator->live_.fetch_sub(block.size_, std::memory_order_relaxed);
  // From here on another thread may take the block.
  pushFreed(allocator->freed_, &block, block.next_);
  allocator->release();
}

void CachingAllocator::trim() {
  requireThisProcess();
  Lock lock(mutex_);
  collectFreed(lock);
  shrink(kEverything, lock);
  closeRegion(lock);
}

AllocatorStats CachingAllocator::stats() const {
  AllocatorStats stats;
  stats.live = live_.load(std::memory_order_relaxed);
  stats.peakLive = peakLive_.load(std::memory_order_relaxed);
  stats.reserved = reserved_.load(std::memory_order_relaxed);
  stats.limit = options_.limit;
  return stats;
}

uint64_t CachingAllocator::room() const {
  return options_.limit == 0 ? kEverything : options_.limit - reserved_.load(std::memory_order_relaxed);
}

void CachingAllocator::failExhausted(const Request& request) const {
  const std::string limit = options_.limit == 0 ? std::string() : concat(", the limit is ", options_.limit);
  fail(MAX_STATUS_RESOURCE_EXHAUSTED, options_.owner, ": requested ", request.bytes, " bytes, ",
       live_.load(std::memory_order_relaxed), " are in use", limit,
       request.sourceIsDry ? "; the driver is out of memory" : "",
       request.cannotWait ? "; a host function cannot wait for memory still in use by other work" : "");
}

template <class Function>
void CachingAllocator::withoutLock(Lock& lock, Function&& function) {
  std::exception_ptr failure;
  ++inHand_;
  lock.unlock();
  try {
    function();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --inHand_;
  released_.notify_all();
  if (failure) std::rethrow_exception(failure);
}

CachedBlock* CachingAllocator::obtain(Request& request, Lock& lock) {
  collectFreed(lock);
  if (CachedBlock* block = takeIdle(request)) return block;
  if (pollWaiting(lock))
    if (CachedBlock* block = takeIdle(request)) return block;
  if (CachedBlock* block = fetch(request, lock)) return block;
  if (CachedBlock* block = takeBusy(request, lock)) return block;
  if (options_.limit != 0 && request.size > options_.limit) return nullptr;  // freeing kept memory would not help
  request.cannotWait = isInHostFunction();  // freeing memory waits for the device, which waits for this function
  if (request.cannotWait) return nullptr;
  for (const bool everything : {false, true}) {
    if (everything && !segments_.isShared()) break;
    reclaim(request, everything, lock);
    if (CachedBlock* block = takeIdle(request)) return block;
    if (CachedBlock* block = fetch(request, lock)) return block;
  }
  return closeRegion(lock) ? fetch(request, lock) : nullptr;
}

// Blocks that the stream may use at once.
CachedBlock* CachingAllocator::takeIdle(const Request& request) {
  CachedBlock* block = request.stream ? request.stream->blocks_.pop(request.size) : nullptr;
  if (!block) block = idle_.pop(request.size);
  return block ? block : carve(request);
}

CachedBlock* CachingAllocator::carve(const Request& request) {
  if (!region_.isOpen()) return nullptr;
  CachedBlock* block = newNode();
  block->base_ = region_.carve(request.carved, request.stream);
  if (!block->base_) {
    spare_.push_back(block);
    return nullptr;
  }
  block->reserved_ = request.carved;
  block->carved_ = true;
  return block;
}

void* CachingAllocator::fetchBase(Request& request, Lock& lock) {
  const size_t needed = segments_.neededFor(request.size);
  if (needed > room()) return nullptr;
  reserved_ += needed;  // before unlocking, so that the limit always holds
  lock.unlock();
  std::exception_ptr failure;
  void* base = nullptr;
  try {
    base = segments_.fetch(request.size);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  if (base) return base;
  reserved_ -= needed;
  if (failure) std::rethrow_exception(failure);
  request.sourceIsDry = true;
  return nullptr;
}

CachedBlock* CachingAllocator::fetch(Request& request, Lock& lock) {
  CachedBlock* block = newNode();
  void* base = segments_.carve(request.size);
  if (!base) {
    try {
      base = fetchBase(request, lock);
    } catch (...) {
      spare_.push_back(block);
      throw;
    }
  }
  if (!base) {
    spare_.push_back(block);
    return nullptr;
  }
  block->base_ = base;
  block->reserved_ = request.size;
  block->carved_ = false;
  return block;
}

// Blocks that other work may still use: the stream waits for it, unless a capture holds it up.
CachedBlock* CachingAllocator::takeBusy(const Request& request, Lock& lock) {
  if (!request.stream || options_.hostAccess) return nullptr;
  CachedBlock* block = popBusy(request);
  if (!block) return nullptr;
  bool isHeldUp = false;
  try {
    withoutLock(lock, [&] {
      if (block->owner_.get() != request.stream) markOwner(*block);
      isHeldUp = block->isHeldUp();
      if (isHeldUp) return;
      for (const Ref<StreamMark>& mark : block->marks_) request.stream->follow(*mark);
    });
  } catch (...) {
    store(*block);
    throw;
  }
  if (isHeldUp) {
    store(*block);
    return nullptr;
  }
  block->marks_.clear();
  return block;
}

CachedBlock* CachingAllocator::popBusy(const Request& request) {
  const auto found = std::ranges::find_if(
      waiting_, [&](const CachedBlock* block) { return BlockLists::fits(block->reserved_, request.size); });
  if (found != waiting_.end()) {
    CachedBlock* block = *found;
    waiting_.erase(found);
    return block;
  }
  for (const Ref<OrderedStream>& stream : open_)
    if (CachedBlock* block = stream->blocks_.pop(request.size)) return block;
  return nullptr;
}

// The stream that a block belongs to must also be waited for.
void CachingAllocator::markOwner(CachedBlock& block) {
  if (!block.owner_) return;
  if (Ref<StreamMark> mark = streams_->mark(*block.owner_)) block.marks_.push_back(std::move(mark));
}

// Makes room for a request, if possible.
void CachingAllocator::reclaim(const Request& request, bool everything, Lock& lock) {
  released_.wait(lock, [&] { return inHand_ == 0; });
  collectFreed(lock);
  const size_t needed = segments_.neededFor(request.size);
  shrink(everything || request.sourceIsDry ? kEverything : needed - std::min<uint64_t>(needed, room()), lock);
}

// Returns at least `wanted` bytes to the source, if that many are unused, and merges the region's holes.
void CachingAllocator::shrink(uint64_t wanted, Lock& lock) {
  std::vector<CachedBlock*> blocks;
  std::exception_ptr failure;
  try {
    takeCached(wanted, blocks);
  } catch (...) {
    for (CachedBlock* block : blocks) store(*block);
    throw;
  }
  uint64_t given = 0;
  withoutLock(lock, [&] { given = finish(blocks, failure); });
  reserved_ -= given;
  for (CachedBlock* block : blocks) {
    if (block->base_)
      store(*block);
    else
      spare_.push_back(block);
  }
  if (failure) std::rethrow_exception(failure);
}

// Waits for work that uses the blocks and frees them; a block whose work cannot be waited for stays. Returns how much
// went back to the source.
uint64_t CachingAllocator::finish(std::vector<CachedBlock*>& blocks, std::exception_ptr& failure) noexcept {
  uint64_t given = 0;
  Ref<OrderedStream> owner;
  Ref<StreamMark> last;  // of the owner
  for (CachedBlock* block : blocks) {
    try {
      if (block->owner_ != owner) {
        last = block->owner_ ? streams_->mark(*block->owner_) : nullptr;
        owner = block->owner_;
      }
      if ((last && last->isHeldUp()) || block->isHeldUp()) continue;
      if (last) last->wait();
      for (const Ref<StreamMark>& mark : block->marks_) mark->wait();
    } catch (...) {
      failure = std::current_exception();
      continue;
    }
    block->marks_.clear();
    block->owner_ = nullptr;
    if (!block->carved_) given += segments_.giveBack(std::exchange(block->base_, nullptr), block->reserved_);
  }
  return given;
}

void CachingAllocator::takeCached(uint64_t wanted, std::vector<CachedBlock*>& blocks) {
  uint64_t taken = 0;
  const auto takeFrom = [&](BlockLists& lists) {
    blocks.reserve(blocks.size() + lists.count());
    while (taken < wanted) {
      CachedBlock* block = lists.popLargest();
      if (!block) return;
      blocks.push_back(block);
      taken += block->reserved_;
    }
  };
  takeFrom(idle_);
  for (const Ref<OrderedStream>& stream : open_) {
    takeFrom(stream->blocks_);
    takeHoles(*stream, blocks);
  }
  if (taken >= wanted) return;
  blocks.insert(blocks.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
}

void CachingAllocator::takeHoles(OrderedStream& stream, std::vector<CachedBlock*>& blocks) {
  while (region_.isOpen() && region_.hasHole(stream)) {
    blocks.reserve(blocks.size() + 1);
    CachedBlock* block = newNode();
    block->reserved_ = region_.takeHole(stream, block->base_);
    block->carved_ = true;
    block->owner_ = Ref<OrderedStream>(&stream);
    blocks.push_back(block);
  }
}

// Whether the region was unused and was returned to the source.
bool CachingAllocator::closeRegion(Lock& lock) noexcept {
  if (!region_.isOpen() || !region_.isWhollyFree()) return false;
  void* base = region_.base();
  const size_t size = region_.size();
  region_.close();
  withoutLock(lock, [&] { source_->freeBlock(base); });
  reserved_ -= size;
  return true;
}

// Collects the blocks released since the last call.
void CachingAllocator::collectFreed(Lock& lock) {
  CachedBlock* list = freed_.exchange(nullptr, std::memory_order_acquire);
  CachedBlock* used = nullptr;
  while (list) {
    CachedBlock* block = std::exchange(list, list->next_);
    if (block->uses_.load(std::memory_order_relaxed) == 0)
      store(*block);
    else
      block->next_ = std::exchange(used, block);
  }
  if (used) settle(used, lock);
}

// Marks the work of other streams that use the blocks; `used` is a list. A block whose work cannot be marked is
// collected again.
void CachingAllocator::settle(CachedBlock* used, Lock& lock) {
  std::exception_ptr failure;
  withoutLock(lock, [&] {
    for (CachedBlock* block = used; block && !failure; block = block->next_) {
      try {
        streams_->mark(block->uses_.load(std::memory_order_relaxed), block->marks_);
        block->uses_.store(0, std::memory_order_relaxed);
      } catch (...) {
        failure = std::current_exception();
      }
    }
  });
  while (used) {
    CachedBlock* block = std::exchange(used, used->next_);
    if (block->uses_.load(std::memory_order_relaxed) == 0)
      store(*block);
    else
      pushFreed(freed_, block, block->next_);
  }
  if (failure) std::rethrow_exception(failure);
}

// Makes an unused block available to requests.
void CachingAllocator::store(CachedBlock& block) {
  if (block.owner_ && block.owner_->closed_) {
    if (block.owner_->last_) block.marks_.push_back(block.owner_->last_);
    block.owner_ = nullptr;
  }
  if (!block.marks_.empty()) {
    waiting_.push_back(&block);
  } else if (block.carved_) {
    region_.giveBack(block.base_, block.reserved_, std::exchange(block.owner_, nullptr));
    block.base_ = nullptr;
    spare_.push_back(&block);
  } else {
    (block.owner_ ? block.owner_->blocks_ : idle_).push(&block);
  }
}

// Whether a block has become ready.
bool CachingAllocator::pollWaiting(Lock& lock) {
  const size_t count = std::min(waiting_.size(), kPolledAtOnce);
  if (count == 0) return false;
  std::array<CachedBlock*, kPolledAtOnce> blocks{};
  std::array<bool, kPolledAtOnce> done{};
  const auto end = waiting_.begin() + static_cast<ptrdiff_t>(count);
  std::copy(waiting_.begin(), end, blocks.begin());
  waiting_.erase(waiting_.begin(), end);
  const auto putBack = [&] {
    for (size_t i = 0; i < count; ++i) {
      if (done[i]) blocks[i]->marks_.clear();
      store(*blocks[i]);
    }
  };
  try {
    withoutLock(lock, [&] {
      for (size_t i = 0; i < count; ++i)
        done[i] = std::ranges::all_of(blocks[i]->marks_, [](const Ref<StreamMark>& mark) { return mark->isDone(); });
    });
  } catch (...) {
    putBack();
    throw;
  }
  putBack();
  return std::ranges::count(done, true) > 0;
}

// The lists have room for all nodes, so that releasing a block does not allocate host memory.
CachedBlock* CachingAllocator::newNode() {
  if (!spare_.empty()) {
    CachedBlock* block = spare_.back();
    spare_.pop_back();
    return block;
  }
  if (all_.size() == all_.capacity()) all_.reserve(std::max<size_t>(64, 2 * all_.size()));
  spare_.reserve(all_.capacity());
  waiting_.reserve(all_.capacity());
  all_.emplace_back(new CachedBlock);
  return all_.back().get();
}

}  // namespace max::gpu
