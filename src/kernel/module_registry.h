// SPDX-License-Identifier: Apache-2.0
// Makes modules for the devices of all APIs.
#pragma once

#include <string_view>

#include "kernel/module.h"

namespace max {

// By API. UNIMPLEMENTED for those whose devices run no kernels.
const KernelBackend& kernelBackend(std::string_view api);

Ref<MaxModule> compileModule(MaxDevice& device, KernelSource source);
Ref<MaxModule> loadModule(MaxDevice& device, std::string_view code);

}  // namespace max
