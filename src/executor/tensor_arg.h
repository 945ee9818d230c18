// SPDX-License-Identifier: Apache-2.0
// An input of a run.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace max {

// Its data may be NULL if it has no elements.
struct TensorArg {
  DType dtype = DType::Invalid;
  std::span<const int64_t> dims;
  const void* data = nullptr;
};

}  // namespace max
