// SPDX-License-Identifier: Apache-2.0
#include "executor/arena.h"

#include <iterator>

#include "base/checked.h"

namespace max {

namespace {

size_t padded(size_t bytes) {
  if (bytes == 0) return kArenaAlignment;
  return checkedAlignUp(bytes, kArenaAlignment);
}

}  // namespace

size_t ArenaPlanner::allocate(size_t bytes) {
  const size_t needed = padded(bytes);
  const auto best = bySize_.lower_bound({needed, 0});
  if (best != bySize_.end()) {
    const auto [available, offset] = *best;
    removeGap(gaps_.find(offset));
    if (available > needed) addGap(offset + needed, available - needed);
    return offset;
  }
  // Nothing fits: extend the gap at the end of the block if there is one, else the block.
  size_t offset = size_;
  if (!gaps_.empty()) {
    const auto last = std::prev(gaps_.end());
    if (last->first + last->second == size_) {
      offset = last->first;
      removeGap(last);
    }
  }
  size_ = checkedAdd(offset, needed);
  return offset;
}

void ArenaPlanner::release(size_t offset, size_t bytes) {
  size_t length = padded(bytes);
  const auto next = gaps_.lower_bound(offset);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      length += before->second;
      removeGap(before);
    }
  }
  const auto after = gaps_.lower_bound(offset + length);
  if (after != gaps_.end() && after->first == offset + length) {
    length += after->second;
    removeGap(after);
  }
  addGap(offset, length);
}

void ArenaPlanner::addGap(size_t offset, size_t bytes) {
  gaps_.emplace(offset, bytes);
  bySize_.emplace(bytes, offset);
}

void ArenaPlanner::removeGap(std::map<size_t, size_t>::iterator gap) {
  bySize_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

}  // namespace max
