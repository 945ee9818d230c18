// SPDX-License-Identifier: Apache-2.0
// Memory for the packed weights of one model: blocks one after the other in huge pages, so that a load takes few page
// faults.
#pragma once

#include <cstddef>
#include <mutex>

#include "base/tensor.h"

namespace max {

// Thread-safe. Blocks outlive it: the last of a mapping returns that to the system.
class PackedMemory {
 public:
  // About as many bytes will be needed. Few are not worth whole huge pages: until there are more, blocks are lasting
  // storage.
  explicit PackedMemory(size_t expected);
  ~PackedMemory();

  Ref<Storage> allocate(size_t bytes);

 private:
  class Mapping;
  class Block;

  const size_t expected_;
  std::mutex mutex_;
  size_t given_ = 0;  // can be more than expected: Winograd's filters are larger than those that they are made of
  Ref<Mapping> mapping_;
  size_t used_ = 0;  // of the mapping
};

// From the active call's packed memory if it has one, else lasting storage.
Ref<Storage> allocatePackedStorage(size_t bytes);

}  // namespace max
