// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of an owner's allocations, up to a limit.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/kept_memory.h"
#include "base/ref.h"

namespace max {

class MemoryAccount : public RefCounted {
 public:
  // `owner` is static and starts the message of a failed request: "Out of memory on cpu:0".
  MemoryAccount(const char* owner, uint64_t limit) : owner_(owner), limit_(limit) {}

  // Throws RESOURCE_EXHAUSTED if the limit (0 = none) would be exceeded even without kept memory.
  void take(uint64_t bytes) {
    reserve(bytes);
    notePeak();
  }
  // The same in two steps, for allocations that may fail.
  void reserve(uint64_t bytes);
  void notePeak() noexcept;
  void giveBack(uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Throws RESOURCE_EXHAUSTED that names the request and the other bytes in use, of which `taken` are for the request.
  [[noreturn]] void fail(uint64_t bytes, uint64_t taken = 0) const;
  // Memory to free when the limit is near.
  KeptMemoryList& kept() { return kept_; }

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }

 private:
  bool tryReserve(uint64_t bytes) noexcept;

  const char* owner_;
  const uint64_t limit_;
  KeptMemoryList kept_;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> peak_{0};
};

// Charges bytes to an account (NULL = none) for as long as the lease exists.
class MemoryLease {
 public:
  MemoryLease(MemoryAccount* account, uint64_t bytes) : account_(account), bytes_(bytes) {
    if (account_) account_->take(bytes_);
  }
  ~MemoryLease() {
    if (account_) account_->giveBack(bytes_);
  }
  MemoryLease(const MemoryLease&) = delete;
  MemoryLease& operator=(const MemoryLease&) = delete;

 private:
  Ref<MemoryAccount> account_;
  uint64_t bytes_;
};

}  // namespace max
