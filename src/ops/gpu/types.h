// SPDX-License-Identifier: Apache-2.0
// Element types in kernels.
#pragma once

#include <cstddef>

#include "base/dtype.h"

namespace max {

struct KernelType {
  const char* element = nullptr;      // in memory
  const char* accumulator = nullptr;  // what sums are made in
};

// Of the numbers that kernels calculate with; without names for others.
KernelType kernelType(DType dtype);

// For elements of 1 to 16 bytes that are only moved.
const char* movedType(size_t bytes);

}  // namespace max
