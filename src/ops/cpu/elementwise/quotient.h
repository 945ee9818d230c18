// SPDX-License-Identifier: Apache-2.0
// Division of int32 and int64 for each CPU target (quotient.cpp).
#pragma once

#include "ops/cpu/elementwise/ops.h"

namespace max {

struct QuotientTable {
  TileFunction (*find)(ElementOp op, DType dtype);  // NULL if there is none
};

// The elements [begin, begin + count) of a tile, by the CPU's division.
void divideOneByOne(const TileOperands& tile, ElementOp op, DType dtype, int64_t begin, int64_t count);

}  // namespace max
