// SPDX-License-Identifier: Apache-2.0
// Products with AMX's tiles, where they are used.
#pragma once

#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/gemm_int.h"

namespace max {

struct TileTables {
  const GemmTable* pairs;         // of bfloat16
  const GemmTable* pairsInParts;  // of two for each factor
  const IntegerGemmTable* bytes;
};
const TileTables* tileTables();  // of cpuTarget(); NULL = without tiles
// Takes the place of the chip's, whatever cpuTarget() is; NULL = the chip's. Not for production.
void setTileTablesForTest(const TileTables* tables);

}  // namespace max
