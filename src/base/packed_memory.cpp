// SPDX-License-Identifier: Apache-2.0
#include "base/packed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/active_call.h"
#include "base/align.h"
#include "base/checked.h"
#include "base/forbid.h"
#include "base/huge_pages.h"
#include "base/pages.h"

namespace max {

namespace {

constexpr size_t kFewBytes = kHugePage / 4 * 3;
constexpr size_t kMostMapped = size_t{64} << 20;
constexpr size_t kAlignment = 64;

Ref<Storage> populated(Ref<Storage> block) {
  populateForWriting(block->data(), block->size());
  return block;
}

}  // namespace

// Pages that nobody has touched take no memory.
class PackedMemory::Mapping : public RefCounted {
 public:
  explicit Mapping(size_t bytes) : bytes_(bytes), mapped_(checkedAdd(bytes, kHugePage)) {
    start_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start_ == MAP_FAILED) throw std::bad_alloc();
    data_ = reinterpret_cast<std::byte*>(alignUp(reinterpret_cast<uintptr_t>(start_), kHugePage));
    adviseHugePages(data_, bytes);
    forbid(data_, bytes);
  }
  ~Mapping() override {
    permit(start_, mapped_);  // the next mapping at this address is somebody else's
    munmap(start_, mapped_);
  }
  size_t bytes() const { return bytes_; }
  std::byte* data() const { return data_; }

 private:
  size_t bytes_, mapped_;  // of huge pages, with what comes before the first
  void* start_;
  std::byte* data_;
};

class PackedMemory::Block final : public Storage {
 public:
  Block(Ref<Mapping> mapping, size_t at, size_t bytes)
      : Storage(mapping->data() + at, bytes), lease_(activeMemory(), bytes), mapping_(std::move(mapping)) {
    permit(data_, bytes);
  }
  ~Block() override { forbid(data_, size_); }

 private:
  MemoryLease lease_;
  Ref<Mapping> mapping_;
};

PackedMemory::PackedMemory(size_t expected) : expected_(expected) {}
PackedMemory::~PackedMemory() = default;

Ref<Storage> PackedMemory::allocate(size_t bytes) {
  if (bytes > kMostMapped / 2) return allocateLastingStorage(bytes);
  const std::lock_guard lock(mutex_);
  given_ += bytes;
  if (!mapping_ || bytes > mapping_->bytes() - used_) {
    const size_t needed = std::max(expected_, given_);
    if (needed < kFewBytes) return populated(allocateLastingStorage(bytes));
    mapping_ = makeRef<Mapping>(alignUp(std::min(std::max(needed, 2 * bytes), kMostMapped), kHugePage));
    used_ = 0;
  }
  const Ref<Storage> block = makeRef<Block>(mapping_, used_, bytes);
  used_ = std::min(alignUp(used_ + bytes, kAlignment), mapping_->bytes());
  return block;
}

Ref<Storage> allocatePackedStorage(size_t bytes) {
  const ActiveCall* call = activeCall();
  return call && call->packed ? call->packed->allocate(bytes) : allocateLastingStorage(bytes);
}

}  // namespace max
