// SPDX-License-Identifier: Apache-2.0
// Vectors for data that kernels hold besides their operands: tables as long as an axis, parts of strings. Blocks that
// are not small count toward the memory limit of the call that allocates them, for as long as they exist.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace max {

// Throws RESOURCE_EXHAUSTED if the limit would be exceeded. `bytes` is the same for both.
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
