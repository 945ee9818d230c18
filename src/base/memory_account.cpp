// SPDX-License-Identifier: Apache-2.0
#include "base/memory_account.h"

#include "base/active_call.h"
#include "base/error.h"

namespace max {

namespace {

constexpr uint64_t kMostBytes = UINT64_MAX;
constexpr int kTrimRounds = 8;  // calls of other threads that end meanwhile keep theirs

bool mayTrim() noexcept {
  const ActiveCall* call = activeCall();
  return !call || call->mayTrim;
}

}  // namespace

void MemoryAccount::reserve(uint64_t bytes) {
  if (tryReserve(bytes)) [[likely]]
    return;
  const bool fitsAlone = limit_ != 0 && bytes <= limit_;
  if (fitsAlone && mayTrim())
    for (int round = 0; round < kTrimRounds; ++round) {
      kept_.trim(round == 0 ? Kept::Idle : Kept::All);
      if (tryReserve(bytes)) return;
    }
  fail(bytes);
}

// Bytes that do not fit are not counted meanwhile.
bool MemoryAccount::tryReserve(uint64_t bytes) noexcept {
  const uint64_t most = limit_ == 0 ? kMostBytes : limit_;
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > most || used > most - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void MemoryAccount::notePeak() noexcept {
  const uint64_t now = used();
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void MemoryAccount::fail(uint64_t bytes, uint64_t taken) const {
  const std::string limit = limit_ == 0 ? std::string() : concat(", the limit is ", limit_);
  max::fail(MAX_STATUS_RESOURCE_EXHAUSTED, owner_, ": requested ", bytes, " bytes, ", used() - taken, " are in use",
            limit);
}

}  // namespace max
