// SPDX-License-Identifier: Apache-2.0
// The process's one thread pool.
//
// Workers start lazily, at the first loop that needs them, and are never joined.
// The caller always takes part. Idle workers spin for tens of microseconds, then
// sleep, so that a process between two calls costs nothing. In the child after a
// fork the workers are gone and start again lazily.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace max {

// More threads than this never run one loop.
inline constexpr int kMaxLanes = 128;

// Runs [begin, end) on lane `lane`; lanes running at the same time differ and are < lanes.
using LoopBody = FunctionRef<void(int64_t begin, int64_t end, int lane)>;

// Splits [0, count) into chunks of `grain` (at least 1) and runs them on at most `lanes` threads.
// Each lane owns a contiguous part and helps others when it has finished (stealing for the tail).
// Runs in the calling thread alone if lanes <= 1 or count <= grain. Nested loops run in the calling thread.
// Between chunks a stop of the active call (base/active_call.h) ends the loop with an exception.
// An exception from the body (std::bad_alloc, Error) is rethrown here after all lanes stopped.
void parallelFor(int lanes, int64_t count, int64_t grain, LoopBody body);

// The smallest of: affinity mask, cgroup CPU quota (rounded up), physical cores within the mask. At least 1.
// MAX_NUM_THREADS overrules it.
int defaultLanes();

}  // namespace max
