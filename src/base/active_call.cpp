// SPDX-License-Identifier: Apache-2.0
#include "base/active_call.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace max {

namespace {

constexpr int64_t kInterruptPeriod = 5'000'000;
constexpr int64_t kFirstPause = 10'000;

thread_local ThreadWork current;
alignas(64) std::atomic<int> countedRuns{0};

}  // namespace

int64_t steadyNanoseconds() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Interrupt::Interrupt(const std::atomic<bool>* flag, int64_t deadline) : flag_(flag), allowed_(deadline) {
  if (deadline <= 0) return;
  const int64_t now = steadyNanoseconds();
  end_ = deadline < kNever - now ? now + deadline : kNever;
}

void Interrupt::raise() const {
  // The cancellation may have been reset since it was seen: a call that is not late was cancelled.
  const bool isCancelled = flag_ && flag_->load(std::memory_order_relaxed);
  if (isCancelled || end_ == kNever || steadyNanoseconds() < end_)
    fail(MAX_STATUS_CANCELLED, "Cancelled by the caller");
  fail(MAX_STATUS_DEADLINE_EXCEEDED, "Not done within the deadline of ", allowed_, " ns");
}

int64_t interruptPeriod(const Interrupt& interrupt) noexcept {
  return std::clamp<int64_t>(interrupt.remaining(), 1, kInterruptPeriod);
}

void pollUntilDone(const Interrupt& interrupt, FunctionRef<bool()> isDone) {
  for (int64_t pause = kFirstPause; !isDone(); pause = std::min(2 * pause, kInterruptPeriod)) {
    interrupt.check();
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(pause, interruptPeriod(interrupt))));
  }
}

const ActiveCall* activeCall() noexcept { return current.call; }

ThreadWork& threadWork() noexcept { return current; }

int RunScope::countThis() noexcept {
  ThreadWork& thread = current;
  if (thread.run == ThreadWork::Run::None) return 1;
  if (thread.run == ThreadWork::Run::Counted) return countedRuns.load(std::memory_order_relaxed);
  thread.run = ThreadWork::Run::Counted;
  return countedRuns.fetch_add(1, std::memory_order_relaxed) + 1;
}

void RunScope::discount() noexcept { countedRuns.fetch_sub(1, std::memory_order_relaxed); }

void RunScope::forgetOthers() noexcept { countedRuns = current.run == ThreadWork::Run::Counted ? 1 : 0; }

void checkInterrupt() {
  if (current.call && current.call->interrupt) current.call->interrupt->check();
}

void reportProgress(double fraction, const char* phase) {
  if (current.call && current.call->progress) current.call->progress->report(fraction, phase);
}

}  // namespace max
