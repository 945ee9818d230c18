// SPDX-License-Identifier: Apache-2.0
// Kernels of bfloat16 products in plain C++, and those with AMX's tiles on top of them and an emulation, for all
// machines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/half.h"
#include "emulated_tiles.h"
#include "ops/cpu/matrix/tile_gemm.h"
#include "ops/cpu/matrix/tile_tables.h"

namespace max::test {

// Of so many rows; in plain_words.cpp, which is optimised in all builds.
void plainTile(const GemmTile& t, int64_t rows);
void plainIntegerTile(const IntegerTile& t, int64_t rows);

inline void plainNarrow(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = bfloat16FromFloat(from[i]);
}

inline void plainNarrowRest(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    const float first = floatFromBFloat16(bfloat16FromFloat(from[i]));
    to[i] = bfloat16FromFloat(std::isfinite(first) ? from[i] - first : 0);
  }
}

inline void plainSpread(const float* from, int64_t pixels, int64_t channels, uint16_t* to) {
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t c = 0; c < channels + channels % 2; ++c)
      *to++ = c < channels ? bfloat16FromFloat(from[i * channels + c]) : uint16_t{0};
}

inline void plainPair(const float* first, const float* second, int64_t width, float* words) {
  for (int64_t n = 0; n < width; ++n) {
    const uint16_t pair[] = {bfloat16FromFloat(first[n]), second ? bfloat16FromFloat(second[n]) : uint16_t{0}};
    std::memcpy(words + n, pair, sizeof(pair));
  }
}

inline void plainPairNarrow(const uint16_t* first, const uint16_t* second, int64_t count, int64_t width, float* words) {
  for (int64_t n = 0; n < width; ++n) {
    const uint16_t pair[] = {n < count ? first[n] : uint16_t{0}, second && n < count ? second[n] : uint16_t{0}};
    std::memcpy(words + n, pair, sizeof(pair));
  }
}

template <int... kRows>
GemmTable plainTable(const GemmTable& floats, std::integer_sequence<int, kRows...>) {
  GemmTable table = floats;
  table.wordElements = 2;
  table.floats = &floats;
  table.narrow = plainNarrow;
  table.narrowRest = plainNarrowRest;
  table.spread = plainSpread;
  table.pair = plainPair;
  table.pairNarrow = plainPairNarrow;
  const GemmTileFunction tiles[] = {[](const GemmTile& t) { plainTile(t, kRows + 1); }...};
  for (int rows = 0; rows < floats.tileRows; ++rows)
    std::fill_n(table.tiles[rows], 2 * floats.panelVectors, tiles[rows]);
  return table;
}

inline GemmTable plainTable(const GemmTable& floats = gemmTable()) {
  return plainTable(floats, std::make_integer_sequence<int, kMaxTileRows>());
}

// One panel of columns.
inline void plainPack(const PackSource& source, int64_t begin, int64_t end, float* packed) {
  const int64_t width = Panels(TileLimits::kWords, 2, source.columns).width(0);
  for (int64_t k = begin; k < end; ++k) {
    const int64_t row = source.taps == 1 ? k : k % source.taps * source.depth + k / source.taps;
    for (int64_t n = 0; n < width; ++n)
      packed[row * width + n] = n < source.columns ? source.data[k * source.rowStride + n * source.columnStride] : 0.f;
  }
}

// Of bfloat16, in panels of tiles.
inline const GemmTable& plainVectors() {
  static const GemmTable floats = [] {
    GemmTable table = gemmTable();
    table.lanes = TileLimits::kWords;
    table.panelVectors = 2;
    table.pack = plainPack;
    return table;
  }();
  static const GemmTable table = plainTable(floats);
  return table;
}

inline void plainIntegerTiles(IntegerTile& t, int64_t rows) {
  for (; t.tiles > 0; --t.tiles, t.advance(rows)) plainIntegerTile(t, rows);
}

template <int... kRows>
IntegerGemmTable plainIntegerTable(std::integer_sequence<int, kRows...>) {
  IntegerGemmTable table{};
  table.usesBytes = true;
  table.tileRows = sizeof...(kRows);
  table.panelColumns = kMaxIntegerPanelColumns;
  table.lanes = TileLimits::kWords;
  table.requantize = integerVectorTable().requantize;
  for (auto& tiles : table.tiles) tiles = {[](IntegerTile& t) { plainIntegerTiles(t, kRows + 1); }...};
  return table;
}

inline const IntegerGemmTable& plainBytes() {
  static const IntegerGemmTable table = plainIntegerTable(std::make_integer_sequence<int, 7>());
  return table;
}

// The tables of a machine with AMX: emulated tiles on top of kernels for vectors.
struct EmulatedTables {
  GemmTable pairs, pairsInParts;
  IntegerGemmTable bytes;
  TileTables all{&pairs, &pairsInParts, &bytes};

  EmulatedTables(const GemmTable& vectors, const IntegerGemmTable& byteVectors)
      : pairs(tileTable<EmulatedTiles>(vectors)),
        pairsInParts(tileTable<EmulatedTiles>(vectors, 2)),
        bytes(tileTable<EmulatedTiles>(byteVectors)) {}
  EmulatedTables(const EmulatedTables&) = delete;
};

// Calls body(tables) with those on plain kernels, and with those on the machine's if it has such; operators use them
// meanwhile.
template <class Body>
void withEmulatedTiles(const Body& body) {
  const auto run = [&](const EmulatedTables& tables, const char* what) {
    SCOPED_TRACE(what);
    setTileTablesForTest(&tables.all);
    body(tables);
    setTileTablesForTest(nullptr);
    EXPECT_EQ(EmulatedTiles::holders(), 0);
  };
  static const EmulatedTables plain(plainVectors(), plainBytes());
  run(plain, "emulated tiles on plain kernels");
  if (!bfloat16VectorTable() || !integerVectorTable().usesBytes) return;
  static const EmulatedTables machine(*bfloat16VectorTable(), integerVectorTable());
  run(machine, "emulated tiles on the machine's kernels");
}

}  // namespace max::test
