// SPDX-License-Identifier: Apache-2.0
// How a thread of the pool sleeps, and gets to another processor than its waker's.
//
// The kernel of a virtual machine takes a processor that has been idle for a while for one that its host does not run,
// and puts a woken thread on its waker's, behind it until the next tick or in its place. There, a thread that was woken
// and still does not run is forbidden the processor of whoever notices, and one that runs in its waker's place forbids
// itself that, if it may run on every processor; it takes the ban off itself.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "base/futex.h"

namespace max {

class WorkerSleep {
 public:
  // In nanoseconds: longer than a wake-up that reaches an idle processor takes.
  static constexpr int64_t kLate = 100'000;

  // In the thread that will sleep.
  void setThread() noexcept;

  // Until wake() is called. Returns at once if there is work already; whoever makes work calls wake() after that.
  template <class HasWork>
  void sleep(HasWork hasWork) noexcept {
    state_.store(kAsleep, std::memory_order_seq_cst);
    uint32_t state = kAsleep;
    if (hasWork() && state_.compare_exchange_strong(state, kAwake)) return;
    while (!isOver(state = state_.load(std::memory_order_acquire)))
      if (state != kCalled) futexWait(state_, state);
    state_.store(kAwake, std::memory_order_relaxed);
    if (state == kMoved || (state == kCalled && isInPlaceOfWaker() && leaveThisProcessor())) returnEverywhere();
  }

  // Wakes the thread if it sleeps, moves it if it was woken and is late. Whether it was woken by this or just before,
  // and so will be here soon. `now` is steadyNanoseconds().
  bool wake(int64_t now) noexcept;

  // Threads that may run on this many processors are moved; 0 = none are.
  static int processorsToMoveAmong() noexcept;

 private:
  enum : uint32_t { kAwake, kAsleep, kCalled, kMoving, kStayed, kMoved };

  // From then on nobody moves the thread.
  bool isOver(uint32_t state) noexcept {
    return state >= kStayed || (state == kCalled && state_.compare_exchange_strong(state, kAwake));
  }

  // After kCalled, in the thread that slept.
  bool isInPlaceOfWaker() const noexcept;
  // Forbids the thread this processor, until it returns; false if it is not moved.
  bool leaveThisProcessor() noexcept;
  static void returnEverywhere() noexcept;

  std::atomic<uint32_t> state_{kAwake};
  pid_t thread_ = 0;
  std::atomic<int64_t> called_{0};  // when
  std::atomic<int> caller_{-1};     // the processor of whoever called
};

}  // namespace max
