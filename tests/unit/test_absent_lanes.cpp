// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/absent_lanes.h"
#include "base/active_call.h"
#include "base/clock.h"
#include "base/thread_pool.h"

namespace max {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kShortest = AbsentLanes::kShortestRest, kLongest = AbsentLanes::kLongestRest, kRun = 5'000'000;

TEST(AbsentLanes, RestTwiceAsLongEachTime) {
  AbsentLanes absent;
  int64_t now = 1'000'000'000'000;
  EXPECT_FALSE(absent.areResting());
  for (int64_t rest = kShortest; rest <= 4 * kLongest; rest *= 2) {
    absent.report(now, now + kRun);
    now += kRun + std::min(rest, kLongest);
    EXPECT_TRUE(absent.areResting());
    EXPECT_EQ(absent.leaves(4, now - 1), 3);
    EXPECT_EQ(absent.leaves(1, now - 1), 1);
    EXPECT_EQ(absent.leaves(4, now), 4);
    EXPECT_FALSE(absent.areResting());
  }
  now += kLongest;  // well for so long: a fresh start
  absent.report(now, now + kRun);
  EXPECT_EQ(absent.leaves(4, now + kRun + kShortest - 1), 3);
  EXPECT_EQ(absent.leaves(4, now + kRun + kShortest), 4);
}

TEST(AbsentLanes, OneMoreRestsIfThatWasNotEnough) {
  AbsentLanes absent;
  const int64_t begin = 1'000'000'000'000;
  for (int64_t run = 0; run < 3; ++run) absent.report(begin + run * kRun, begin + (run + 1) * kRun);
  EXPECT_EQ(absent.leaves(8, begin + 3 * kRun), 5);
  EXPECT_EQ(absent.leaves(2, begin + 3 * kRun), 1);
  EXPECT_EQ(absent.leaves(8, begin + 3 * kRun + kShortest), 8);
}

// Ends what earlier runs of the process have left.
void awaitEndOfRest() {
  for (; absentLanes.areResting(); std::this_thread::sleep_for(milliseconds(5)))
    absentLanes.leaves(1, steadyNanoseconds());
}

void spin(milliseconds length) {
  for (const auto end = std::chrono::steady_clock::now() + length; std::chrono::steady_clock::now() < end;) continue;
}

// A run whose loop has a chunk for each of two lanes: work(lane). The first waits until the second has begun.
template <class Work>
void runOnTwoLanes(Work work) {
  const RunScope run(nullptr);
  std::atomic<bool> whole{false}, begun{false};
  parallelFor(2, 2, 1, [&](int64_t begin, int64_t end, int lane) {
    whole = end - begin == 2;
    if (lane == 1) begun = true;
    while (!whole && !begun) continue;  // to yield would count as being made to stop
    work(lane);
  });
}

// Whether a loop of a run gets two lanes.
bool getsTwoLanes() {
  std::atomic<bool> second{false};
  runOnTwoLanes([&](int lane) {
    if (lane == 1) second = true;
  });
  return second;
}

class BusyProcessor {
 public:
  // Keeps one of this thread's processors busy, and keeps the thread there, too.
  BusyProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    other_ = std::thread([this] {
      while (!end_) continue;
    });
  }
  ~BusyProcessor() {
    end_ = true;
    other_.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  std::atomic<bool> end_{false};
  std::thread other_;
};

TEST(RunClock, RunsDoWithoutALaneWhileTheirProcessorIsBusy) {
  if (defaultLanes() < 2) GTEST_SKIP() << "one processor";
  awaitEndOfRest();
  EXPECT_TRUE(getsTwoLanes());
  {
    const BusyProcessor busy;
    runOnTwoLanes([](int) { spin(milliseconds(50)); });
    runOnTwoLanes([](int) { spin(milliseconds(50)); });
  }
  EXPECT_TRUE(absentLanes.areResting());
  EXPECT_FALSE(getsTwoLanes());
  std::atomic<bool> second{false};  // loops that are no run's
  parallelFor(2, 2, 1, [&](int64_t, int64_t, int lane) {
    if (lane == 1) second = true;
    for (int i = 0; i < 100 && !second; ++i) std::this_thread::sleep_for(milliseconds(10));
  });
  EXPECT_TRUE(second);
  awaitEndOfRest();
  EXPECT_TRUE(getsTwoLanes());
}

// Keeps this thread on the last of its processors, away from a busy one.
class OnLastProcessor {
 public:
  OnLastProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &before_)) --last;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnLastProcessor() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

TEST(RunClock, RunsDoWithoutALaneThatIsHeldUp) {
  if (defaultLanes() < 2) GTEST_SKIP() << "one processor";
  awaitEndOfRest();
  EXPECT_TRUE(getsTwoLanes());  // a worker that is started now may run everywhere
  const OnLastProcessor away;
  const auto work = [](int lane) {
    if (lane == 0) return;
    const BusyProcessor busy;
    spin(milliseconds(50));
  };
  runOnTwoLanes(work);
  runOnTwoLanes(work);
  EXPECT_TRUE(absentLanes.areResting());
}

TEST(RunClock, WaitsForOtherLanesDoNotCount) {
  if (defaultLanes() < 2) GTEST_SKIP() << "one processor";
  const auto wait = [](int lane) { std::this_thread::sleep_for(milliseconds(lane == 0 ? 0 : 50)); };
  bool isResting = true;
  for (int round = 0; round < 20 && isResting; ++round) {  // something else may keep the processor for a while
    awaitEndOfRest();
    runOnTwoLanes(wait);
    runOnTwoLanes(wait);
    isResting = absentLanes.areResting();
  }
  EXPECT_FALSE(isResting);
}

// Some clocks of a thread stand still between two ticks of the kernel.
TEST(RunClock, TimeOfTheThreadIsExactInBriefRuns) {
  int changes = 0;
  int64_t last = threadNanoseconds();
  for (int i = 0; i < 10'000; ++i) {  // a few milliseconds
    const int64_t now = threadNanoseconds();
    changes += now == last ? 0 : 1;
    last = now;
  }
  EXPECT_GT(changes, 1000);
}

}  // namespace
}  // namespace max
