// SPDX-License-Identifier: Apache-2.0
#include "base/worker_sleep.h"

namespace max {

void WorkerSleep::setThread() noexcept { thread_ = static_cast<pid_t>(syscall(SYS_gettid)); }

bool WorkerSleep::wake() noexcept {
  if (state_.load(std::memory_order_seq_cst) != kAsleep) return false;
  uint32_t asleep = kAsleep;
  if (!state_.compare_exchange_strong(asleep, kMoving)) return false;
  isMoved_ = leaveThisProcessor();
  state_.store(kCalled, std::memory_order_release);
  futexWake(state_, 1);
  return true;
}

bool WorkerSleep::leaveThisProcessor() noexcept {
  const int processor = sched_getcpu();
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  if (sched_getaffinity(thread_, sizeof allowed_, &allowed_) != 0) return false;
  cpu_set_t others = allowed_;
  CPU_CLR(processor, &others);
  return CPU_COUNT(&others) > 0 && sched_setaffinity(thread_, sizeof others, &others) == 0;
}

}  // namespace max
