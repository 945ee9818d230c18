// SPDX-License-Identifier: Apache-2.0
// Lanes that runs of models do without, because something else keeps their processors: a loop ends with its last lane,
// and a thread that waits for a processor in the middle of a loop holds all of them up for milliseconds.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace max {

class AbsentLanes {
 public:
  // Nanoseconds that the lanes rest.
  static constexpr int64_t kShortestRest = 25'000'000, kLongestRest = 800'000'000;

  // A run from `begin` to `now` (monotonic nanoseconds) was held up. Until a rest is over runs do without a lane, with
  // one more if a run is held up even so. If one is held up soon after a rest, the next is twice as long.
  void report(int64_t begin, int64_t now) noexcept;

  bool areResting() const noexcept { return resting_.load(std::memory_order_relaxed); }
  // How many of these lanes are left now, at least one.
  int leaves(int lanes, int64_t now) noexcept;

 private:
  std::atomic<bool> resting_{false};
  std::atomic<int> absent_{0};
  std::atomic<int64_t> end_{0}, rest_{0};
};

// Those of the thread pool.
inline constinit AbsentLanes absentLanes;

// Notices that a thread's work is held up: that the thread does not run in a good part of it, and was made to stop.
class RunClock {
 public:
  void start() noexcept;
  // The thread has waited for its loop's other lanes, one of which may have been held up.
  void addWait(int64_t nanoseconds, bool isHeldUp) noexcept {
    waited_ += nanoseconds;
    isOtherHeldUp_ = isOtherHeldUp_ || isHeldUp;
  }
  // Whether the thread was held up since start(), or since this was asked last.
  bool isHeldUp() noexcept { return isHeldUp(steadyNanoseconds()); }
  // Reports the run to absentLanes if it was held up, or another lane of its loops.
  void stop() noexcept;

 private:
  bool isHeldUp(int64_t now) noexcept;

  int64_t begin_ = 0, waited_ = 0;  // of the run
  bool isOtherHeldUp_ = false;
  // When the thread's use of the processor was looked at last: that takes a system call, and so is done once in a
  // while.
  int64_t looked_ = 0;
  int64_t ran_ = 0;  // until then
  int64_t stops_ = 0;
};

}  // namespace max
