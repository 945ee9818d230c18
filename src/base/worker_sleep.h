// SPDX-License-Identifier: Apache-2.0
// How a thread of the pool sleeps, and is woken on another processor than its waker's.
//
// The kernel of a virtual machine takes a processor that has been idle for a while for one that its host does not run,
// and puts a woken thread beside its waker, who then shares a processor with it until the next tick. There, threads
// that may run on every processor are woken with that one forbidden. No others are: they sleep and wake as usual.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "base/futex.h"

namespace max {

class WorkerSleep {
 public:
  // In the thread that will sleep.
  void setThread() noexcept;

  // Until wake() is called. Returns at once if there is work already; whoever makes work calls wake() after that.
  template <class HasWork>
  void sleep(HasWork hasWork) noexcept {
    state_.store(kAsleep, std::memory_order_seq_cst);
    uint32_t state = kAsleep;
    if (hasWork() && state_.compare_exchange_strong(state, kAwake)) return;
    while ((state = state_.load(std::memory_order_acquire)) != kCalled) futexWait(state_, state);
    state_.store(kAwake, std::memory_order_relaxed);
    if (isMoved_) returnEverywhere();
  }

  // False if the thread does not sleep, or another wakes it.
  bool wake() noexcept;

  // Threads that may run on this many processors are moved; 0 = none are.
  static int processorsToMoveAmong() noexcept;

 private:
  enum : uint32_t { kAwake, kAsleep, kMoving, kCalled };

  // Forbids the thread this processor, until it returns; false if it is not moved.
  bool leaveThisProcessor() noexcept;
  static void returnEverywhere() noexcept;

  std::atomic<uint32_t> state_{kAwake};
  pid_t thread_ = 0;
  bool isMoved_ = false;
};

}  // namespace max
