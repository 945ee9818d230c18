// SPDX-License-Identifier: Apache-2.0
// Modules and kernels of the host.
#pragma once

#include "kernel/module.h"

namespace max {

const KernelBackend& cpuKernels();

}  // namespace max
