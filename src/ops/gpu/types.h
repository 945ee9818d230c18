// SPDX-License-Identifier: Apache-2.0
// Element types in kernels.
#pragma once

#include "base/dtype.h"

namespace max {

struct KernelType {
  const char* element = nullptr;      // in memory
  const char* accumulator = nullptr;  // what sums are made in
};

// Of the numbers that kernels calculate with; without names for others.
KernelType kernelType(DType dtype);

}  // namespace max
