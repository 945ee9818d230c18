// SPDX-License-Identifier: Apache-2.0
#include "base/worker_sleep.h"

#include <sched.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>

namespace max {

namespace {

constexpr unsigned kHypervisorBit = 31;  // of leaf 1's ecx

bool isVirtualMachine() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> kHypervisorBit & 1) != 0;
#else
  return false;
#endif
}

}  // namespace

// A filter of system calls may end the process for asking.
int WorkerSleep::processorsToMoveAmong() noexcept {
  static const int processors =
      isVirtualMachine() && prctl(PR_GET_SECCOMP) == 0 ? static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) : 0;
  return processors;
}

void WorkerSleep::setThread() noexcept { thread_ = static_cast<pid_t>(syscall(SYS_gettid)); }

bool WorkerSleep::wake(int64_t now) noexcept {
  uint32_t state = state_.load(std::memory_order_seq_cst);
  if (state == kAsleep && state_.compare_exchange_strong(state, kCalled)) {
    called_.store(now, std::memory_order_relaxed);
    caller_.store(sched_getcpu(), std::memory_order_relaxed);
    futexWake(state_, 1);
    return true;
  }
  if (state != kCalled) return false;
  if (now - called_.load(std::memory_order_relaxed) < kLate) return true;
  if (!state_.compare_exchange_strong(state, kMoving)) return false;
  const bool isMoved = leaveThisProcessor();
  state_.store(isMoved ? kMoved : kStayed, std::memory_order_release);
  futexWake(state_, 1);
  return false;
}

bool WorkerSleep::isInPlaceOfWaker() const noexcept {
  return processorsToMoveAmong() > 1 && caller_.load(std::memory_order_relaxed) == sched_getcpu();
}

// Only a thread that may run everywhere, whose freedom can be given back whole: the kernel remembers what was asked
// for, and a set of some processors would hold when the process is given more.
bool WorkerSleep::leaveThisProcessor() noexcept {
  const int count = processorsToMoveAmong(), processor = sched_getcpu();
  if (count < 2 || processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t allowed;
  if (sched_getaffinity(thread_, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != count) return false;
  CPU_CLR(processor, &allowed);
  return sched_setaffinity(thread_, sizeof allowed, &allowed) == 0;
}

void WorkerSleep::returnEverywhere() noexcept {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace max
