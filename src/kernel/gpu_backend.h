// SPDX-License-Identifier: Apache-2.0
// Kernels on accelerators.
#pragma once

#include <string_view>

#include "kernel/module.h"

namespace max {

// NULL if there is no accelerator API of this name, or its devices run no kernels.
const KernelBackend* gpuKernels(std::string_view api);

}  // namespace max
