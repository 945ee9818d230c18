// SPDX-License-Identifier: Apache-2.0
// The kernels of matrix products with AMX's tiles, and their tables. `Tiles`: see tile_product.h.
#pragma once

#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/matrix/tile_product.h"

namespace max {

// Few rows wait for memory rather than for products, and short pieces for their copies.
inline constexpr int64_t kFewTileRows = 4, kFewTileWords = 4;

// With the kernels for vectors, which also turn the sums of tiles into results. Moves `t` behind its last row.
inline void runVectors(GemmTile& t) {
  for (int64_t first = 0, some; first < t.count; first += some) {
    some = std::min<int64_t>(t.vectors->tileRows, t.count - first);
    t.vectors->tile(some, t.columns)(t);
    t.rows += some;
    t.c += some * t.ldc;
    if (t.sums) t.sums += some * t.sumStride;
    if (t.narrow) t.narrow += some * t.ldn;
    if (t.residual) t.residual += some * t.ldr;
    if (t.narrowResidual) t.narrowResidual += some * t.ldr;
  }
}

template <class Tiles>
void multiplyTile(const GemmTile& t) {
  GemmTile rest = t;
  if (t.count <= kFewTileRows && t.taps == 1 && t.rowPart == 0) return runVectors(rest);
  rest.taps = 0;
  alignas(64) float sums[BlockTiles::kRows * BlockTiles::kColumns];
  if (t.taps * t.depth > 0) {
    constexpr int64_t kFloat = sizeof(float);
    const TileWords<float> words{t.rows,
                                 t.rowOffset,
                                 t.count,
                                 t.taps,
                                 BlockTiles::kRows,
                                 t.depth,
                                 t.b,
                                 kFloat * t.bStride,
                                 reinterpret_cast<const std::byte*>(t.ahead),
                                 kFloat * t.aheadStep,
                                 t.rowPart,
                                 kFloat * t.bPart,
                                 kFloat * t.rowStride};
    sumProducts<Tiles, DotPairs, float>(words, t.columns, *t.held, sums, kFloat * BlockTiles::kColumns);
    rest.sums = sums;
    rest.sumStride = BlockTiles::kColumns;
  }
  runVectors(rest);
}

// `vectors`: of bfloat16. Two parts of each factor make three products.
template <class Tiles>
GemmTable tileTable(const GemmTable& vectors, int parts = 1) {
  GemmTable table = vectors;
  table.tileRows = BlockTiles::kRows;
  table.panelVectors = static_cast<int>(BlockTiles::kColumns / TileLimits::kWords);
  table.kBlock = 512;
  table.anyTile = multiplyTile<Tiles>;
  table.vectors = &vectors;
  table.step = TileLimits::kWords;
  table.parts = parts;
  table.rate = parts == 1 ? 16 : 5;
  table.takesHalves = false;
  return table;
}

inline void runVectors(IntegerTile t) {
  const int64_t last = t.count;
  const IntegerGemmTable& vectors = *t.vectors;
  for (int64_t first = 0, some; first < last; first += some) {
    some = std::min<int64_t>(vectors.tileRows, last - first);
    vectors.multiply(t, some, 1);
    if (t.sums) t.sums += some * vectors.panelColumns;
  }
}

// A panel's columns, half of them at a time.
template <class Tiles>
void multiplyIntegerTile(IntegerTile& tile) {
  const IntegerTile t = tile;
  tile.advance(t.count);
  if (tile.ahead) tile.ahead += t.pieces * t.words * t.aheadStep;
  if (t.pieces == 1 ? t.count <= kFewTileRows : t.words < kFewTileWords) return runVectors(t);
  IntegerTile rest = t;
  rest.pieces = 0;
  alignas(64) int32_t sums[BlockTiles::kRows * kMaxIntegerPanelColumns];
  if (t.pieces * t.words > 0) {
    constexpr int64_t kNumber = sizeof(int32_t);
    const int64_t width = t.vectors->panelColumns;
    TileWords<uint8_t> words{t.rows,
                             0,
                             t.count,
                             t.pieces,
                             t.pieceStride,
                             t.words,
                             t.b,
                             kNumber * width,
                             reinterpret_cast<const std::byte*>(t.ahead),
                             kNumber * t.aheadStep};
    for (int64_t column = 0; column < t.columns; column += BlockTiles::kColumns, words.ahead = nullptr) {
      words.b = t.b + column;
      const int64_t columns = std::min(BlockTiles::kColumns, t.columns - column);
      sumProducts<Tiles, DotBytes, uint8_t>(words, columns, *t.held, sums + column, kNumber * width);
    }
    rest.sums = sums;
  }
  runVectors(rest);
}

// `vectors`: of bytes.
template <class Tiles>
IntegerGemmTable tileTable(const IntegerGemmTable& vectors) {
  IntegerGemmTable table = vectors;
  table.tileRows = BlockTiles::kRows;
  table.blockRows = 2 * BlockTiles::kRows;
  table.anyTile = multiplyIntegerTile<Tiles>;
  table.vectors = &vectors;
  table.takesOffsets = false;
  return table;
}

}  // namespace max
