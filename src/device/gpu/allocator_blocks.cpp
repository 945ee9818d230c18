// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/allocator_blocks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/checked.h"

namespace max::gpu {

namespace {

constexpr size_t kClassesPerDoubling = 16;
constexpr size_t kClasses = 64 * kClassesPerDoubling;

}  // namespace

size_t BlockLists::rounded(size_t bytes, size_t granularity) {
  const size_t unit = std::max(granularity, std::bit_floor(std::max<size_t>(bytes, 1)) / kClassesPerDoubling);
  return checkedAdd(std::max<size_t>(bytes, 1), unit - 1) / unit * unit;
}

size_t BlockLists::classOf(size_t size) {
  const auto doubling = static_cast<size_t>(std::bit_width(size)) - 1;
  const size_t part = doubling < 4 ? 0 : size >> (doubling - 4);
  return doubling * kClassesPerDoubling + part % kClassesPerDoubling;
}

BlockLists::BlockLists() : heads_(kClasses) {}

void BlockLists::push(CachedBlock* block) noexcept {
  CachedBlock*& head = heads_[classOf(block->reserved_)];
  block->next_ = head;
  head = block;
  ++count_;
}

CachedBlock* BlockLists::pop(size_t size) noexcept {
  if (count_ == 0) return nullptr;
  const size_t first = classOf(size);
  for (size_t i = first; i < std::min(first + 3, kClasses); ++i) {
    CachedBlock* block = heads_[i];
    if (!block || !fits(block->reserved_, size)) continue;
    heads_[i] = block->next_;
    --count_;
    return block;
  }
  return nullptr;
}

CachedBlock* BlockLists::popLargest() noexcept {
  if (count_ == 0) return nullptr;
  const auto last =
      std::find_if(heads_.rbegin(), heads_.rend(), [](const CachedBlock* head) { return head != nullptr; });
  CachedBlock* block = *last;
  *last = block->next_;
  --count_;
  return block;
}

void BlockRegion::open(void* base, size_t size) {
  base_ = static_cast<char*>(base);
  size_ = size;
  holes_.emplace(base_, Hole{size, nullptr});
}

void BlockRegion::close() {
  base_ = nullptr;
  size_ = 0;
  holes_.clear();
}

void* BlockRegion::carve(size_t size, OrderedStream* stream) {
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    const bool isUsable = !hole->second.owner || hole->second.owner.get() == stream;
    if (isUsable && hole->second.size >= size && (best == holes_.end() || hole->second.size < best->second.size))
      best = hole;
  }
  if (best == holes_.end()) return nullptr;
  // The block is the hole's end, so that the hole keeps its key in the map.
  best->second.size -= size;
  char* block = best->first + best->second.size;
  if (best->second.size == 0) holes_.erase(best);
  return block;
}

void BlockRegion::giveBack(void* base, size_t size, Ref<OrderedStream> owner) {
  auto hole = holes_.emplace(static_cast<char*>(base), Hole{size, std::move(owner)}).first;
  const auto joins = [](Holes::iterator left, Holes::iterator right) {
    return left->first + left->second.size == right->first && left->second.owner == right->second.owner;
  };
  if (hole != holes_.begin() && joins(std::prev(hole), hole)) {
    --hole;
    const auto right = std::next(hole);
    hole->second.size += right->second.size;
    holes_.erase(right);
  }
  const auto right = std::next(hole);
  if (right == holes_.end() || !joins(hole, right)) return;
  hole->second.size += right->second.size;
  holes_.erase(right);
}

bool BlockRegion::hasHole(const OrderedStream& stream) const {
  return std::any_of(holes_.begin(), holes_.end(),
                     [&](const auto& entry) { return entry.second.owner.get() == &stream; });
}

size_t BlockRegion::takeHole(const OrderedStream& stream, void*& base) {
  const auto hole = std::find_if(holes_.begin(), holes_.end(),
                                 [&](const auto& entry) { return entry.second.owner.get() == &stream; });
  if (hole == holes_.end()) return 0;
  const size_t size = hole->second.size;
  base = hole->first;
  holes_.erase(hole);
  return size;
}

}  // namespace max::gpu
