// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "base/worker_sleep.h"

namespace max {
namespace {

using std::chrono::milliseconds;

constexpr int kRounds = 10;  // something else may keep the other processor for a while

cpu_set_t allowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return allowed;
}

// Keeps this thread on the first of its processors, or brings a thread that it starts there.
class OnOneProcessor {
 public:
  OnOneProcessor() : before_(allowedProcessors()) {
    CPU_ZERO(&one_);
    while (!CPU_ISSET(first_, &before_)) ++first_;
    CPU_SET(first_, &one_);
    sched_setaffinity(0, sizeof one_, &one_);
  }
  ~OnOneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }

  const cpu_set_t& before() const { return before_; }
  int processor() const { return first_; }

 private:
  cpu_set_t before_, one_;
  int first_ = 0;
};

// A thread that sleeps once, and what it found when it woke up.
class Sleeper {
 public:
  // `mask`: where it may run.
  explicit Sleeper(const cpu_set_t& mask)
      : thread_([this, mask] {
          sched_setaffinity(0, sizeof mask, &mask);
          sleep_.setThread();
          sleep_.sleep([this] {
            sleeps_ = true;
            return false;
          });
          processor = sched_getcpu();
          allowed = allowedProcessors();
        }) {}

  // The waker goes on working, so that a thread behind it does not run, unless the kernel lets it go first.
  void wake() {
    while (!sleeps_) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_TRUE(sleep_.wake(steadyNanoseconds()));
    for (int64_t end = steadyNanoseconds() + 2 * WorkerSleep::kLate; steadyNanoseconds() < end;) continue;
    sleep_.wake(steadyNanoseconds());
    thread_.join();
  }

  int processor = -1;
  cpu_set_t allowed;

 private:
  WorkerSleep sleep_;
  std::atomic<bool> sleeps_{false};
  std::thread thread_;
};

bool areMoved(const cpu_set_t& allowed) {
  return CPU_COUNT(&allowed) > 1 && CPU_COUNT(&allowed) == WorkerSleep::processorsToMoveAmong();
}
constexpr char kNotMoved[] = "no virtual machine, a filter of system calls, or not all processors";

TEST(WorkerSleep, WakesOnAnotherProcessorThanItsWakers) {
  const OnOneProcessor here;
  if (!areMoved(here.before())) GTEST_SKIP() << kNotMoved;
  int moved = 0;
  for (int round = 0; round < kRounds; ++round) {
    Sleeper sleeper(here.before());
    sleeper.wake();
    moved += sleeper.processor != here.processor() ? 1 : 0;
    EXPECT_TRUE(CPU_EQUAL(&sleeper.allowed, &here.before()));
  }
  EXPECT_GE(moved, kRounds / 2);
}

TEST(WorkerSleep, WakesOnItsOnlyProcessor) {
  const OnOneProcessor here;
  const cpu_set_t one = allowedProcessors();
  Sleeper sleeper(one);
  sleeper.wake();
  EXPECT_EQ(sleeper.processor, here.processor());
  EXPECT_TRUE(CPU_EQUAL(&sleeper.allowed, &one));
}

TEST(WorkerSleep, DoesNotSleepOverWork) {
  WorkerSleep sleep;
  sleep.setThread();
  sleep.sleep([] { return true; });
  EXPECT_FALSE(sleep.wake(steadyNanoseconds()));
}

TEST(WorkerSleep, ManyWakeOneThread) {
  WorkerSleep sleep;
  std::atomic<int> work{0}, done{0};
  constexpr int kEach = 2000, kWakers = 3;
  std::thread sleeper([&] {
    sleep.setThread();
    while (done < kEach * kWakers) {
      sleep.sleep([&] { return work > 0; });
      done += work.exchange(0);
    }
  });
  std::thread wakers[kWakers];
  for (std::thread& waker : wakers)
    waker = std::thread([&] {
      for (int i = 0; i < kEach; ++i) {
        ++work;
        sleep.wake(steadyNanoseconds());
      }
    });
  for (std::thread& waker : wakers) waker.join();
  sleeper.join();
  EXPECT_EQ(done, kEach * kWakers);
}

// Whether the lanes of the loops that follow a pause, in which the pool's worker falls asleep, all run on one
// processor. There are more loops where the host takes its time to run the other one, which is not the kernel's choice.
bool lanesShareAProcessor() {
  constexpr int64_t kEach = 3 * WorkerSleep::kLate;
  constexpr int kLoops = 4, kMostLoops = 50;
  std::this_thread::sleep_for(milliseconds(20));
  std::atomic<int> other{-1};
  const auto spin = [&](int64_t, int64_t, int lane) {
    if (lane == 1) other = sched_getcpu();
    for (int64_t end = steadyNanoseconds() + kEach; steadyNanoseconds() < end;) continue;
  };
  for (int loop = 0; loop < kLoops || (other < 0 && loop < kMostLoops); ++loop) parallelFor(2, 2, 1, spin);
  return other < 0 || other == sched_getcpu();
}

TEST(WorkerSleep, LanesOfALoopAfterAPauseRunOnTheirOwnProcessors) {
  const OnOneProcessor here;
  sched_setaffinity(0, sizeof here.before(), &here.before());  // the pool's worker takes this over
  if (defaultLanes() < 2 || !areMoved(here.before())) GTEST_SKIP() << kNotMoved;
  lanesShareAProcessor();  // starts the worker
  int shared = kRounds;
  for (int tries = 0; tries < 3 && shared > kRounds / 2; ++tries) {
    shared = 0;
    for (int round = 0; round < kRounds; ++round) shared += lanesShareAProcessor() ? 1 : 0;
  }
  EXPECT_LE(shared, kRounds / 2);
}

}  // namespace
}  // namespace max
