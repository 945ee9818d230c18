// SPDX-License-Identifier: Apache-2.0
// What a load may make of a file, in proportion to its size, so that a short file takes neither much memory nor much
// time. Import, the compiler's passes and the first plan draw on one budget; what has no budget (graphs that are built
// in code) is held to nothing but the memory limit of its session.
#pragma once

#include <cstdint>

#include "base/memory_account.h"
#include "max/status.h"

namespace max {

class LoadBudget {
 public:
  explicit LoadBudget(uint64_t fileBytes);

  // Of graphs: nodes, values, names, what is known of them. RESOURCE_EXHAUSTED if it is not there.
  void takeMemory(uint64_t bytes);
  void giveBackMemory(uint64_t bytes) noexcept { memory_ += bytes; }
  // Of what is known of the contents of values, which may be forgotten instead. False if it is not there.
  bool tryTakeElements(uint64_t bytes) { return tryTake(elements_, bytes); }
  // Operations of what is computed ahead of its time. False if they are not there: then it stays what it is.
  bool tryTakeWork(uint64_t operations) { return tryTake(work_, operations); }
  // Work in proportion to the constants that there are to work on, wherever they lie.
  void addWorkFor(uint64_t constantBytes);

  const uint64_t id;  // differs between all budgets of the process

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

// Of a call that was called off or is late: no failure that somebody may get over.
inline bool isStop(MaxStatus status) noexcept {
  return status == MAX_STATUS_CANCELLED || status == MAX_STATUS_DEADLINE_EXCEEDED;
}

// That of this thread's load, NULL if there is none.
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

// Memory of something that grows, taken from the account that was active when it was made and from the budgets of the
// loads that make it grow.
class MemoryCharge {
 public:
  MemoryCharge();
  ~MemoryCharge();
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  // Throws RESOURCE_EXHAUSTED, and then has taken nothing.
  void add(uint64_t bytes);

 private:
  void reserve(uint64_t bytes);
  void takeFrom(LoadBudget& budget, uint64_t bytes);

  Ref<MemoryAccount> account_;
  uint64_t used_ = 0;
  uint64_t reserved_ = 0;  // of the account, in steps
  uint64_t budget_ = 0;    // which one gave the bytes below
  uint64_t budgetBytes_ = 0;
};

}  // namespace max
