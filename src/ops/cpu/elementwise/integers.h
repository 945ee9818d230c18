// SPDX-License-Identifier: Apache-2.0
// Arithmetic of int32 and int64 for each CPU target (integers.cpp).
#pragma once

#include "ops/cpu/elementwise/ops.h"

namespace max {

struct IntegerTable {
  TileFunction (*find)(ElementOp op, DType dtype);  // NULL if there is none
};

// The elements [begin, begin + count) of a tile with two sources of `bytes` an element.
TileOperands partOf(const TileOperands& tile, int64_t begin, int64_t count, size_t bytes, size_t resultBytes);

// Those elements by the plain loop. `resultBytes`: of an element of the result.
void computePlain(const TileOperands& tile, ElementOp op, DType dtype, int64_t begin, int64_t count,
                  size_t resultBytes);

}  // namespace max
