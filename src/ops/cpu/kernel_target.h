// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/cpu/target.h"

namespace max {

// What the vector kernels that run now were compiled for: less than cpuTarget() where a build leaves instruction sets
// out.
CpuTarget kernelTarget();

}  // namespace max
