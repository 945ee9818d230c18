// SPDX-License-Identifier: Apache-2.0
// What each CPU target offers for float32 (elementwise_f32.cpp).
#pragma once

#include "ops/cpu/elementwise/ops.h"

namespace max {

struct FloatTileTable {
  TileFunction (*find)(ElementOp op);  // NULL if libm serves it
};

}  // namespace max
