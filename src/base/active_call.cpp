// SPDX-License-Identifier: Apache-2.0
#include "base/active_call.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace max {

namespace {

constexpr int64_t kInterruptPeriod = 5'000'000;
constexpr int64_t kFirstPause = 10'000;

thread_local ThreadWork current;
alignas(64) std::atomic<uint64_t> countedRuns{0};  // a bit for the place of each
constexpr int kMostRuns = 64;

bool takePlace(ThreadWork& thread) {
  uint64_t taken = countedRuns.load(std::memory_order_relaxed);
  do {
    if (~taken == 0) return false;
    thread.place = static_cast<uint8_t>(std::countr_one(taken));
  } while (!countedRuns.compare_exchange_weak(taken, taken | uint64_t{1} << thread.place, std::memory_order_relaxed));
  thread.run = ThreadWork::Run::Counted;
  thread.clock.start();
  return true;
}

}  // namespace

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

RunRank RunScope::countThis() noexcept {
  ThreadWork& thread = current;
  if (thread.run == ThreadWork::Run::None) return {};
  if (thread.run == ThreadWork::Run::Uncounted && !takePlace(thread)) return {kMostRuns + 1, kMostRuns};
  const uint64_t runs = countedRuns.load(std::memory_order_relaxed), own = uint64_t{1} << thread.place;
  return {std::popcount(runs), std::popcount(runs & (own - 1))};
}

void RunScope::discount() noexcept {
  current.clock.stop();
  countedRuns.fetch_and(~(uint64_t{1} << current.place), std::memory_order_relaxed);
}

void RunScope::forgetOthers() noexcept {
  countedRuns = current.run == ThreadWork::Run::Counted ? uint64_t{1} << current.place : 0;
}

void checkInterrupt() {
  if (current.call && current.call->interrupt) current.call->interrupt->check();
}

void reportProgress(double fraction, const char* phase) {
  if (current.call && current.call->progress) current.call->progress->report(fraction, phase);
}

}  // namespace max
