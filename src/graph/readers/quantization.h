// SPDX-License-Identifier: Apache-2.0
// What QuantizeLinear and DequantizeLinear read of their attributes.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "graph/attributes.h"

namespace max::readers {

struct Quantization {
  int64_t block;    // elements along the axis that share a scale; 0 = all
  DType precision;  // of the division; Invalid = that of the scale
  DType output;     // Invalid = as the other operands say
  bool saturates;   // of small floating-point types

  explicit Quantization(const Attributes& attributes);
  // That of the scales, if there are several; INVALID_ARGUMENT if a tensor of this rank has none such.
  int axis(int rank) const;

 private:
  int64_t axis_;
};

}  // namespace max::readers
