// SPDX-License-Identifier: Apache-2.0
// Runs kernels compiled for the host. Knows nothing of devices and streams.
#pragma once

#include "kernel/cpu_runtime.h"

namespace max {

// Runs all blocks on at most `lanes` threads of the process, and returns when they are done. FAILED_PRECONDITION if
// threads deadlock or a thread traps.
void runOnCpu(const CpuLaunch& launch, int lanes);

}  // namespace max
