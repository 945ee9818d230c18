// SPDX-License-Identifier: Apache-2.0
// The kernels of matrix products with AMX's tiles, and their tables. `Tiles`: see tile_product.h.
#pragma once

#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/tile_product.h"

namespace max {

// What a tile's sums become is the business of the kernels for vectors.
inline void finishTile(GemmTile t) {
  const int64_t last = t.count;
  t.taps = 0;
  for (int64_t first = 0, some; first < last; first += some) {
    some = std::min<int64_t>(t.vectors->tileRows, last - first);
    t.vectors->tile(some, t.columns)(t);
    t.c += some * t.ldc;
    if (t.sums) t.sums += some * t.sumStride;
    if (t.narrow) t.narrow += some * t.ldn;
    if (t.residual) t.residual += some * t.ldr;
    if (t.narrowResidual) t.narrowResidual += some * t.ldr;
  }
}

// Few rows wait for memory rather than for products.
inline constexpr int64_t kFewTileRows = 4;

template <class Tiles>
void multiplyTile(const GemmTile& t) {
  if (t.count <= kFewTileRows && t.taps == 1) return t.vectors->tile(t.count, t.columns)(t);
  GemmTile rest = t;
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
                                 kFloat * t.aheadStep};
    sumProducts<Tiles, DotPairs, float>({&words, 1}, t.columns, *t.held, sums, kFloat * BlockTiles::kColumns);
    rest.sums = sums;
    rest.sumStride = BlockTiles::kColumns;
  }
  finishTile(rest);
}

// `vectors`: of bfloat16.
template <class Tiles>
GemmTable tileTable(const GemmTable& vectors) {
  GemmTable table = vectors;
  table.tileRows = BlockTiles::kRows;
  table.panelVectors = static_cast<int>(BlockTiles::kColumns / TileLimits::kWords);
  table.kBlock = 512;
  table.anyTile = multiplyTile<Tiles>;
  table.vectors = &vectors;
  table.step = TileLimits::kWords;
  table.rate = 16;
  return table;
}

}  // namespace max
