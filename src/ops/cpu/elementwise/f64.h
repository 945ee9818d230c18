// SPDX-License-Identifier: Apache-2.0
// Functions of float64 for each CPU target (f64.cpp).
#pragma once

#include "ops/cpu/elementwise/ops.h"

namespace max {

struct DoubleTileTable {
  TileFunction (*find)(ElementOp op);  // NULL if there is none
};

TileFunction findDoubleTileFunction(ElementOp op);

}  // namespace max
