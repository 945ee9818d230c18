// SPDX-License-Identifier: Apache-2.0
// AMX's instructions, and the tables of products that use them. The assembler knows them wherever AVX-512 BF16 is
// known; compilers are told nothing, so that no other code has to be compiled for such chips.
#include <atomic>

#include "ops/cpu/matrix/amx_tiles.h"
#include "ops/cpu/matrix/tile_gemm.h"
#include "ops/cpu/matrix/tile_tables.h"
#include "ops/cpu/target.h"

namespace max {

namespace {

#if defined(__x86_64__)

const TileTables* amxTables() {
  const GemmTable* words = bfloat16VectorTable();
  if (!words) return nullptr;  // a build without AVX-512
  static const GemmTable pairs = tileTable<AmxTiles>(*words), inParts = tileTable<AmxTiles>(*words, 2);
  static const IntegerGemmTable bytes = tileTable<AmxTiles>(integerVectorTable());
  static const TileTables tables{&pairs, &inParts, &bytes};
  return &tables;
}

#else

const TileTables* amxTables() { return nullptr; }

#endif

std::atomic<const TileTables*> tablesForTest = nullptr;

}  // namespace

const TileTables* tileTables() {
  if (const TileTables* tables = tablesForTest.load(std::memory_order_relaxed)) return tables;
  return cpuTarget() >= CpuTarget::Amx ? amxTables() : nullptr;
}

void setTileTablesForTest(const TileTables* tables) { tablesForTest.store(tables, std::memory_order_relaxed); }

const GemmTable* bfloat16GemmTable() {
  const TileTables* tables = tileTables();
  return tables ? tables->pairs : bfloat16VectorTable();
}

}  // namespace max
