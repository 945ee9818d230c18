// SPDX-License-Identifier: Apache-2.0
// Vectors of what kernels hold beside their operands: tables that are as long as an axis, parts of texts. Blocks that
// are not small count for the memory limit of the call that asks for them, for as long as they live.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace max {

// Throws RESOURCE_EXHAUSTED if the limit would be passed. `bytes` is the same for both.
void* allocateWork(size_t bytes);
void freeWork(void* block, size_t bytes) noexcept;

template <class T>
struct WorkAllocator {
  using value_type = T;
  static constexpr size_t kBytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression): elements may be pointers
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  WorkAllocator() = default;
  template <class U>
  WorkAllocator(const WorkAllocator<U>&) noexcept {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / 2 / kBytes) throw std::bad_array_new_length();
    return static_cast<T*>(allocateWork(count * kBytes));
  }
  void deallocate(T* block, size_t count) noexcept { freeWork(block, count * kBytes); }
  bool operator==(const WorkAllocator&) const = default;
};

template <class T>
using WorkVector = std::vector<T, WorkAllocator<T>>;

}  // namespace max
