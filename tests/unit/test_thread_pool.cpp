// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/active_call.h"
#include "base/error.h"
#include "base/tensor.h"
#include "base/thread_pool.h"

namespace max {
namespace {

void expectEachOnce(int lanes, int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
  std::atomic<int> wrongLanes{0};
  parallelFor(lanes, count, grain, [&](int64_t begin, int64_t end, int lane) {
    if (lane < 0 || lane >= std::max(lanes, 1)) ++wrongLanes;
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  EXPECT_EQ(wrongLanes, 0);
  for (const auto& times : seen) ASSERT_EQ(times, 1);
}

TEST(ThreadPool, RunsEachElementOnce) {
  for (int lanes : {0, 1, 2, 3, 8})
    for (int64_t count : {0, 1, 2, 7, 100, 1001})
      for (int64_t grain : {0, 1, 3, 64}) expectEachOnce(lanes, count, grain);
}

TEST(ThreadPool, LanesThatRunTogetherDiffer) {
  std::atomic<int> busy[4] = {};
  std::atomic<int> clashes{0};
  for (int round = 0; round < 200; ++round)
    parallelFor(4, 64, 1, [&](int64_t, int64_t, int lane) {
      if (busy[lane].fetch_add(1) != 0) ++clashes;
      busy[lane].fetch_sub(1);
    });
  EXPECT_EQ(clashes, 0);
}

TEST(ThreadPool, NestedLoopsRunInTheirCaller) {
  std::atomic<int64_t> total{0};
  parallelFor(4, 16, 1, [&](int64_t, int64_t, int) {
    const auto self = std::this_thread::get_id();
    parallelFor(4, 100, 1, [&](int64_t begin, int64_t end, int) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      total += end - begin;
    });
  });
  EXPECT_EQ(total, 1600);
}

TEST(ThreadPool, CarriesExceptions) {
  for (int lanes : {1, 4})
    for (int64_t where : {0, 50, 99}) {
      const auto loop = [&] {
        parallelFor(lanes, 100, 1, [&](int64_t begin, int64_t end, int) {
          if (begin <= where && where < end) fail(MAX_STATUS_OUT_OF_RANGE, "at ", where);
        });
      };
      EXPECT_THROW(loop(), Error);
      expectEachOnce(lanes, 100, 1);
    }
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 80; ++i)
    callers.emplace_back([] {
      for (int round = 0; round < 20; ++round) expectEachOnce(4, 200, 7);
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, RunsGetAllProcessorsBetweenThem) {
  for (const int processors : {1, 2, 3, 4, 8, 13})
    for (const int lanes : {1, 2, 4, 13, 128})
      for (int runs = 1; runs < 20; ++runs) {
        int sum = 0, last = lanes;
        for (int before = 0; before < runs; ++before) {
          const int share = lanesOfRun(processors, lanes, {runs, before});
          EXPECT_TRUE(1 <= share && share <= last);
          sum += share;
          last = share;
        }
        EXPECT_EQ(sum, std::max(runs, std::min(runs * lanes, processors)))
            << runs << " runs of " << lanes << " lanes on " << processors;
      }
}

// Places are taken again; runs without one are the last.
TEST(ThreadPool, RunsAreCounted) {
  const auto rank = [] { return RunScope::countThis(); };
  EXPECT_EQ(rank().runs, 1);
  constexpr int kRuns = 70, kPlaces = 64;
  std::atomic<int> ready{0}, turn{0}, unplaced{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < kRuns; ++i)
    callers.emplace_back([&, i] {
      while (turn != i) std::this_thread::yield();
      const RunScope run(nullptr);
      const RunRank own = rank();
      EXPECT_EQ(own.before, std::min(i, kPlaces));
      EXPECT_EQ(own.runs, std::min(i, kPlaces) + 1);
      unplaced += i >= kPlaces;
      ++ready;
      ++turn;
      while (ready < kRuns) std::this_thread::yield();
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(unplaced, kRuns - kPlaces);
  const RunScope run(nullptr);
  EXPECT_EQ(rank().runs, 1);
  EXPECT_EQ(rank().before, 0);
  std::thread([&] {
    const RunScope other(nullptr);
    EXPECT_EQ(rank().before, 1);
  }).join();
  EXPECT_EQ(rank().runs, 1);
}

// How many threads work at a loop that has as many chunks as lanes, in a run of its own.
int threadsOfLoop(int lanes) {
  const RunScope run(nullptr);
  std::atomic<int> most{0};
  parallelFor(lanes, lanes, 1, [&](int64_t, int64_t, int lane) {
    for (int seen = most; seen <= lane && !most.compare_exchange_weak(seen, lane + 1);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  return most;
}

// Calls for all processors but one keep a loop open: the last call gets one lane, and all of them when the others have
// left.
TEST(ThreadPool, RunsShareTheProcessors) {
  const int processors = defaultLanes();
  if (processors < 2) GTEST_SKIP() << "one processor";
  std::atomic<int> inside{0};
  std::atomic<bool> leave{false};
  std::vector<std::thread> callers;
  for (int i = 1; i < processors; ++i)
    callers.emplace_back([&] {
      const RunScope run(nullptr);
      const RunScope nested(nullptr);
      parallelFor(2, 2, 1, [&](int64_t begin, int64_t, int) {
        if (begin == 0) ++inside;
        while (!leave) std::this_thread::yield();
      });
    });
  while (inside < processors - 1) std::this_thread::yield();
  EXPECT_EQ(threadsOfLoop(processors), 1);
  EXPECT_EQ(threadsOfLoop(2 * processors), 1);
  leave = true;
  for (std::thread& caller : callers) caller.join();
  int most = 0;
  for (int round = 0; round < 100 && most < 2; ++round) most = std::max(most, threadsOfLoop(processors));
  EXPECT_GT(most, 1);
}

TEST(ThreadPool, WorkersTakePart) {
  std::atomic<int> others{0};
  const auto self = std::this_thread::get_id();
  for (int round = 0; round < 100 && others == 0; ++round)
    parallelFor(2, 2, 1, [&](int64_t, int64_t, int) {
      if (std::this_thread::get_id() != self) ++others;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
  EXPECT_GT(others, 0);
}

double processCpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(ThreadPool, IdleWorkersCostNothing) {
  expectEachOnce(4, 1000, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double before = processCpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(processCpuSeconds() - before, 0.005);
}

TEST(ThreadPool, WorksInForkedChildren) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer ends a child of a process with threads that starts one";
#endif
  expectEachOnce(3, 1000, 1);
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::atomic<int64_t> total{0};
      parallelFor(3, 1000, 1, [&](int64_t begin, int64_t end, int) { total += end - begin; });
      _exit(total == 1000 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
}

TEST(ThreadPool, StopsBetweenChunks) {
  std::atomic<bool> flag{false};
  const Interrupt interrupt(&flag, 0);
  ActiveCall call;
  call.interrupt = &interrupt;
  const ActiveCallScope scope(&call);
  for (int lanes : {1, 2, 4}) {
    constexpr int64_t kCount = 1000000;
    std::atomic<int64_t> done{0}, strangers{0};
    flag = false;
    EXPECT_THROW(parallelFor(lanes, kCount, 10,
                             [&](int64_t begin, int64_t end, int) {
                               if (activeCall() != &call) ++strangers;
                               if ((done += end - begin) > 1000) flag = true;
                             }),
                 Error);
    EXPECT_LT(done, kCount);
    EXPECT_EQ(strangers, 0);
  }
}

TEST(ThreadPool, KeepsToTheLanesOfTheCall) {
  ActiveCall call;
  const ActiveCallScope scope(&call);
  for (int lanes : {1, 2}) {
    call.lanes = lanes;
    std::atomic<int64_t> done{0}, strangers{0};
    parallelFor(4, 1000, 1, [&](int64_t begin, int64_t end, int lane) {
      done += end - begin;
      if (lane >= lanes) ++strangers;
    });
    EXPECT_EQ(done, 1000);
    EXPECT_EQ(strangers, 0);
  }
}

TEST(ThreadPool, WorkersTakeMemoryFromTheCallersAccount) {
  const Ref<MemoryAccount> account = makeRef<MemoryAccount>("Test", 1000);
  ActiveCall call;
  call.memory = account.get();
  const ActiveCallScope scope(&call);
  parallelFor(4, 100, 1, [](int64_t, int64_t, int) { EXPECT_EQ(allocateStorage(200)->size(), 200u); });
  EXPECT_EQ(account->used(), 0u);
  EXPECT_GE(account->peak(), 200u);
  EXPECT_THROW(parallelFor(4, 100, 1, [](int64_t, int64_t, int) { allocateStorage(2000); }), Error);
  EXPECT_EQ(account->used(), 0u);
}

TEST(ThreadPool, DefaultLanesFollowTheAffinityMask) {
  EXPECT_GE(defaultLanes(), 1);
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(defaultLanes(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace max
