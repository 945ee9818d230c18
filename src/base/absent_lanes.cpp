// SPDX-License-Identifier: Apache-2.0
#include "base/absent_lanes.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/clock.h"

namespace max {

namespace {

constexpr int64_t kLookPeriod = 1'000'000;  // nanoseconds
constexpr int64_t kLeastLoss = 1'000'000;   // a scheduler's slice is a few times as long
constexpr int64_t kPartLost = 8;            // one part of so many

}  // namespace

void AbsentLanes::report(int64_t begin, int64_t now) noexcept {
  const int64_t end = end_.load(std::memory_order_relaxed);
  int64_t rest = rest_.load(std::memory_order_relaxed);
  if (begin < end) {
    absent_.fetch_add(1, std::memory_order_relaxed);
  } else if (begin - end < rest) {
    rest = std::min(2 * rest, kLongestRest);
  } else {
    rest = kShortestRest;
    absent_.store(1, std::memory_order_relaxed);
  }
  rest_.store(rest, std::memory_order_relaxed);
  end_.store(now + rest, std::memory_order_relaxed);
  resting_.store(true, std::memory_order_relaxed);
}

int AbsentLanes::leaves(int lanes, int64_t now) noexcept {
  if (now < end_.load(std::memory_order_relaxed)) return std::max(lanes - absent_.load(std::memory_order_relaxed), 1);
  resting_.store(false, std::memory_order_relaxed);
  return lanes;
}

void RunClock::start() noexcept {
  begin_ = steadyNanoseconds();
  waited_ = 0;
  isOtherHeldUp_ = false;
}

bool RunClock::isHeldUp(int64_t now) noexcept {
  if (now - looked_ < kLookPeriod) return false;
  looked_ = now;
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const int64_t ranBefore = ran_, stopsBefore = stops_;
  ran_ = threadNanoseconds();
  stops_ = usage.ru_nivcsw;
  // What the thread ran between the last look and the run's begin only makes this smaller.
  const int64_t length = now - begin_, lost = length - waited_ - (ran_ - ranBefore);
  return stops_ > stopsBefore && lost > kLeastLoss && lost > length / kPartLost;
}

void RunClock::stop() noexcept {
  const int64_t now = steadyNanoseconds();
  if (isHeldUp(now) || isOtherHeldUp_) absentLanes.report(begin_, now);
}

}  // namespace max
