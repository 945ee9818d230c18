// SPDX-License-Identifier: Apache-2.0
// Host memory with a limit.
#pragma once

#include <atomic>

#include "device/memory.h"

namespace max {

// Bytes that a device's buffers take; held to the limit.
class MemoryAccount : public RefCounted {
 public:
  explicit MemoryAccount(uint64_t limit) : limit_(limit) {}

  // Throws RESOURCE_EXHAUSTED if the limit (0 = none) would be passed.
  void take(uint64_t bytes);
  void giveBack(uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> peak_{0};
};

Ref<Storage> allocateCpuMemory(size_t bytes, const AllocationOptions& options, const Ref<MemoryAccount>& account);

// Copies elements one by one; strides are in bytes.
void copyStridedOnHost(const StridedCopy& copy);
void fillOnHost(void* target, const FillPattern& pattern, size_t count);

}  // namespace max
