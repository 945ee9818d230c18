// SPDX-License-Identifier: Apache-2.0
// The float32 functions of each CPU target (elementwise_f32.cpp).
#pragma once

#include "ops/cpu/elementwise/ops.h"

namespace max {

struct FloatTileTable {
  TileFunction (*find)(ElementOp op);  // NULL if there is none, or libm is as fast
  SplatFunction (*findSplat)(size_t elementSize);
};

}  // namespace max
