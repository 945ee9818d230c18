// SPDX-License-Identifier: Apache-2.0
// Limits what a load makes from a file, in proportion to the file's size, so that a short file takes neither much
// memory nor much time. Import, the compiler's passes and the first plan share one budget; graphs built in code have no
// budget, only the memory limit of their session.
#pragma once

#include <cstdint>

#include "base/memory_account.h"
#include "max/status.h"

namespace max {

class LoadBudget {
 public:
  explicit LoadBudget(uint64_t fileBytes);
  // What a file of this size may take.
  static uint64_t memoryFor(uint64_t fileBytes);

  // For graphs: nodes, values, names, inferred facts. RESOURCE_EXHAUSTED if it is used up.
  void takeMemory(uint64_t bytes);
  void giveBackMemory(uint64_t bytes) noexcept { memory_ += bytes; }
  // For known contents of values, which can be dropped instead. False if it is used up.
  bool tryTakeElements(uint64_t bytes) { return tryTake(elements_, bytes); }
  // Operations of constant folding. False if they are used up: then nothing is folded.
  bool tryTakeWork(uint64_t operations) { return tryTake(work_, operations); }
  // Work in proportion to the constants to process, in the file or elsewhere.
  void addWorkFor(uint64_t constantBytes);

  const uint64_t id;  // unique among all budgets of the process

 private:
  static bool tryTake(uint64_t& left, uint64_t amount) {
    if (amount > left) return false;
    left -= amount;
    return true;
  }

  uint64_t fileBytes_;
  uint64_t allMemory_;
  uint64_t memory_;
  uint64_t elements_;
  uint64_t work_;
};

// The call was cancelled or is late: not a failure to recover from.
inline bool isStop(MaxStatus status) noexcept {
  return status == MAX_STATUS_CANCELLED || status == MAX_STATUS_DEADLINE_EXCEEDED;
}

// The budget of this thread's load, NULL if there is none.
LoadBudget* activeLoadBudget() noexcept;

class LoadBudgetScope {
 public:
  explicit LoadBudgetScope(LoadBudget* budget) noexcept;
  ~LoadBudgetScope();
  LoadBudgetScope(const LoadBudgetScope&) = delete;
  LoadBudgetScope& operator=(const LoadBudgetScope&) = delete;

 private:
  LoadBudget* before_;
};

// Memory of something that grows, charged to the account that was active when it was created and to the budgets of the
// loads that make it grow.
class MemoryCharge {
 public:
  MemoryCharge();
  ~MemoryCharge();
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  // Throws RESOURCE_EXHAUSTED and then charges nothing.
  void add(uint64_t bytes);

 private:
  void reserve(uint64_t bytes);
  void takeFrom(LoadBudget& budget, uint64_t bytes);

  Ref<MemoryAccount> account_;
  uint64_t used_ = 0;
  uint64_t reserved_ = 0;  // of the account, in steps
  uint64_t budget_ = 0;    // which budget the bytes below came from
  uint64_t budgetBytes_ = 0;
};

}  // namespace max
