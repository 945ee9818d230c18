// SPDX-License-Identifier: Apache-2.0
// Places values with known lifetimes in one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace max {

inline constexpr size_t kArenaAlignment = 64;

// Used in step order: a step's value is placed before the values that die there are freed. It takes the best-fitting
// gap, so that warm memory is reused.
class ArenaPlanner {
 public:
  size_t allocate(size_t bytes);              // -> offset, aligned
  void release(size_t offset, size_t bytes);  // bytes as given to allocate
  size_t size() const { return size_; }       // of the block that holds all

 private:
  void addGap(size_t offset, size_t bytes);
  void removeGap(std::map<size_t, size_t>::iterator gap);
  std::map<size_t, size_t> gaps_;               // offset -> bytes
  std::set<std::pair<size_t, size_t>> bySize_;  // bytes, offset
  size_t size_ = 0;
};

}  // namespace max
