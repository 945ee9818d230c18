// SPDX-License-Identifier: Apache-2.0
#include "base/memory_account.h"

#include "base/error.h"

namespace max {

void MemoryAccount::reserve(uint64_t bytes) {
  const uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t now = before + bytes;
  if (now < before || (limit_ != 0 && now > limit_)) {
    giveBack(bytes);
    fail(bytes);
  }
}

void MemoryAccount::notePeak() noexcept {
  const uint64_t now = used();
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void MemoryAccount::fail(uint64_t bytes, uint64_t taken) const {
  const std::string limit = limit_ == 0 ? std::string() : concat(", the limit is ", limit_);
  max::fail(MAX_STATUS_RESOURCE_EXHAUSTED, owner_, ": asked for ", bytes, " bytes, ", used() - taken, " are in use",
            limit);
}

}  // namespace max
