// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that come after the library was built.
#pragma once

#include "ops/op_kernel.h"

namespace max {

// Adds a row for an extension's operator; what it points at must stay. Nothing happens to operators of the library
// itself. Thread-safe.
void registerKernels(const OpRow& kernels);

}  // namespace max
