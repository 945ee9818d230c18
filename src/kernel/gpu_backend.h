// SPDX-License-Identifier: Apache-2.0
// What accelerators do with kernels.
#pragma once

#include "kernel/module.h"

namespace max {

const KernelBackend& cudaKernels();
const KernelBackend& hipKernels();

}  // namespace max
