// SPDX-License-Identifier: Apache-2.0
// AMX's instructions, and the tables of products that use them. The assembler knows them wherever AVX-512 BF16 is
// known; compilers are told nothing, so that no other code has to be compiled for such chips.
#include <atomic>

#include "ops/cpu/matrix/tile_gemm.h"
#include "ops/cpu/matrix/tile_tables.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace max {

namespace {

#if defined(__x86_64__)

struct AmxTiles {
  static void configure(const TileConfig& config) { __asm__ volatile("ldtilecfg %0" : : "m"(config)); }
  static void release() { __asm__ volatile("tilerelease"); }

  template <int kTile>
  static void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const std::byte* from, int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(std::byte* to, int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSum, int kA, int kB>
  static void dotPairs() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
  template <int kSum, int kA, int kB>
  static void dotBytes() {  // unsigned ones of A
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }

  // With whole lines, which a tile is loaded from without waiting for memory.
  template <class T>
  __attribute__((target("avx512f"))) static void copyRows(const T* const* rows, int64_t offset, int64_t count,
                                                          std::byte* to) {
    for (int64_t i = 0; i < count; ++i, to += TileLimits::kRowBytes)
      _mm512_store_si512(to, _mm512_loadu_si512(reinterpret_cast<const std::byte*>(rows[i]) + offset));
  }
};

const TileTables* amxTables() {
  const GemmTable* words = bfloat16VectorTable();
  if (!words) return nullptr;  // a build without AVX-512
  static const GemmTable floats = tileTable<AmxTiles>(*words);
  static const TileTables tables{&floats};
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
