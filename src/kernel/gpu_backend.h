// SPDX-License-Identifier: Apache-2.0
// Kernels on accelerators.
#pragma once

#include "kernel/module.h"

namespace max {

const KernelBackend& cudaKernels();
const KernelBackend& hipKernels();

}  // namespace max
