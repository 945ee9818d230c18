// SPDX-License-Identifier: Apache-2.0
// The process's one thread pool.
//
// Workers start lazily, at the first loop that needs them, and are never joined.
// The caller always takes part. Idle workers spin for tens of microseconds, then sleep, so that a process costs nothing
// between calls. After a fork the child has no workers and starts new ones lazily.
//
// Runs of models at the same time (RunScope) share the processors: a loop of one of two runs on four processors gets
// two lanes; of three runs, the first gets two.
#pragma once

#include <cstdint>

#include "base/active_call.h"
#include "base/function_ref.h"

namespace max {

// Maximum threads per loop.
inline constexpr int kMaxLanes = 128;

// Runs [begin, end) on lane `lane`; lanes running at the same time differ and are < lanes.
using LoopBody = FunctionRef<void(int64_t begin, int64_t end, int lane)>;

// Splits [0, count) into chunks of `grain` (at least 1) and runs them on at most `lanes` threads, and no more than the
// active call (base/active_call.h) may use. Each lane owns a contiguous part and steals from others when it has
// finished. Runs in the calling thread alone if lanes <= 1 or count <= grain. Nested loops run in the calling thread.
// If the active call is stopped, the loop ends between chunks with an exception. An exception from the body
// (std::bad_alloc, Error) is rethrown here after all lanes have stopped.
void parallelFor(int lanes, int64_t count, int64_t grain, LoopBody body);

// How many of its lanes a loop of a run gets.
int lanesOfRun(int processors, int lanes, const RunRank& rank);

// The smallest of: affinity mask, cgroup CPU quota (rounded up), physical cores within the mask. At least 1.
// MAX_NUM_THREADS overrides it.
int defaultLanes();

}  // namespace max
