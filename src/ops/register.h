// SPDX-License-Identifier: Apache-2.0
// Kernels of operators added at run time.
#pragma once

#include "ops/op_kernel.h"

namespace max {

// Adds a row for an extension's operator; its pointers must stay valid. Does not affect the library's own operators.
// Thread-safe.
void registerKernels(const OpRow& kernels);

}  // namespace max
