// SPDX-License-Identifier: Apache-2.0
// Vectorised conversions of each CPU target (cast_simd.cpp); NULL if plain loops suffice.
#pragma once

#include "ops/cpu/elementwise/ops.h"

namespace max {

struct WideCasts {
  TileFunction int32FromDouble;
  TileFunction int64FromDouble;
  TileFunction boolFromDouble;
  TileFunction doubleFromInt64;
  TileFunction boolFromInt64;
};

struct CastTable {
  TileFunction floatFromHalf;
  TileFunction floatFromBFloat16;
  TileFunction halfFromFloat;
  TileFunction bfloat16FromFloat;
  TileFunction floatFromBool;
  TileFunction int32FromFloat;
  TileFunction int64FromFloat;
  TileFunction uint8FromFloat;
  TileFunction int8FromFloat;
  WideCasts wide;
};

const CastTable& castTable();  // of the CPU target of now

}  // namespace max
