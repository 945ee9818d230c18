// SPDX-License-Identifier: Apache-2.0
// The host's C++ compiler, as a compiler of kernels.
#pragma once

#include "kernel/compiler.h"

namespace max {

// The first of MAX_CXX, c++, clang++ and g++ that runs, found once. UNAVAILABLE if none does.
const KernelCompiler& cpuCompiler();

}  // namespace max
