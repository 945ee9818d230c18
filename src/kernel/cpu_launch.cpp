// SPDX-License-Identifier: Apache-2.0
// Spreads the blocks of a launch over the thread pool.
#include "kernel/cpu_launch.h"

#include <algorithm>
#include <chrono>

#include "base/checked.h"
#include "base/thread_pool.h"

namespace max {

namespace {

using Clock = std::chrono::steady_clock;

// Waking other threads costs about this much work.
constexpr int64_t kAloneNanoseconds = 20'000;
constexpr int64_t kChunkNanoseconds = 10'000;

}  // namespace

// The first block's time predicts the others'.
void runOnCpu(const CpuLaunch& launch, int lanes) {
  const int64_t blocks = checkedMultiply(int64_t{launch.grid[0]} * launch.grid[1], launch.grid[2]);
  BlockRunner& own = BlockRunner::ofThread();
  if (blocks == 1 || lanes <= 1) return own.run(launch, 0, blocks);
  const Clock::time_point start = Clock::now();
  own.run(launch, 0, 1);
  const int64_t each = std::max<int64_t>(1, std::chrono::nanoseconds(Clock::now() - start).count());
  if (blocks - 1 <= kAloneNanoseconds / each) return own.run(launch, 1, blocks);
  const int64_t grain =
      std::clamp<int64_t>(kChunkNanoseconds / each, 1, std::max<int64_t>(1, (blocks - 1) / (lanes * 4)));
  parallelFor(lanes, blocks - 1, grain,
              [&](int64_t begin, int64_t end, int) { BlockRunner::ofThread().run(launch, begin + 1, end + 1); });
}

}  // namespace max
