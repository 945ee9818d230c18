// SPDX-License-Identifier: Apache-2.0
#include "base/packed_memory.h"

#include <algorithm>

#include "base/active_call.h"
#include "base/align.h"
#include "base/anonymous_pages.h"
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

class PackedMemory::Mapping : public RefCounted {
 public:
  // Whole huge pages.
  explicit Mapping(size_t bytes) : pages_(bytes), bytes_(bytes) { forbid(data(), bytes); }
  size_t bytes() const { return bytes_; }
  std::byte* data() const { return pages_.data(); }

 private:
  AnonymousPages pages_;
  size_t bytes_;
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
