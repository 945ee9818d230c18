// SPDX-License-Identifier: Apache-2.0
#include "base/load_budget.h"

#include <algorithm>
#include <atomic>

#include "base/active_call.h"
#include "base/error.h"

namespace max {

namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;
constexpr uint64_t kLeastMemory = 64 * kMegabyte;
constexpr uint64_t kMemoryPerByte = 8;
constexpr uint64_t kLeastElements = 8 * kMegabyte;
constexpr uint64_t kLeastWork = uint64_t{1} << 25;  // within a second on the slowest kernels
constexpr uint64_t kWorkPerByte = 32;
constexpr uint64_t kStep = 64 << 10;

thread_local LoadBudget* current = nullptr;

uint64_t nextId() noexcept {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

LoadBudget::LoadBudget(uint64_t fileBytes)
    : id(nextId()),
      fileBytes_(fileBytes),
      allMemory_(memoryFor(fileBytes)),
      memory_(allMemory_),
      elements_(kLeastElements + fileBytes),
      work_(kLeastWork) {}

uint64_t LoadBudget::memoryFor(uint64_t fileBytes) { return kLeastMemory + kMemoryPerByte * fileBytes; }

void LoadBudget::takeMemory(uint64_t bytes) {
  if (tryTake(memory_, bytes)) [[likely]]
    return;
  fail(MAX_STATUS_RESOURCE_EXHAUSTED, "the graph takes more than ", allMemory_, " bytes, the limit for a file of ",
       fileBytes_, " bytes");
}

void LoadBudget::addWorkFor(uint64_t constantBytes) {
  uint64_t more;
  if (__builtin_mul_overflow(kWorkPerByte, constantBytes, &more) || __builtin_add_overflow(work_, more, &work_))
    work_ = UINT64_MAX;
}

LoadBudget* activeLoadBudget() noexcept { return current; }

LoadBudgetScope::LoadBudgetScope(LoadBudget* budget) noexcept : before_(current) { current = budget; }
LoadBudgetScope::~LoadBudgetScope() { current = before_; }

MemoryCharge::MemoryCharge() : account_(activeMemory()) {}

// What one load builds again is charged once.
MemoryCharge::~MemoryCharge() {
  if (current && current->id == budget_) current->giveBackMemory(budgetBytes_);
  if (account_) account_->giveBack(reserved_);
}

void MemoryCharge::add(uint64_t bytes) {
  // The limit includes the overhead of small blocks.
  const uint64_t taken = bytes + bytes / 2;
  if (account_ && used_ + taken > reserved_) reserve(taken);
  if (current) takeFrom(*current, bytes);
  used_ += taken;
}

void MemoryCharge::takeFrom(LoadBudget& budget, uint64_t bytes) {
  budget.takeMemory(bytes);
  if (budget_ != budget.id) budgetBytes_ = 0;
  budget_ = budget.id;
  budgetBytes_ += bytes;
}

void MemoryCharge::reserve(uint64_t bytes) {
  const uint64_t missing = used_ + bytes - reserved_;
  const uint64_t more = std::max(missing, std::min(kStep, used_));
  account_->take(more);
  reserved_ += more;
}

}  // namespace max
