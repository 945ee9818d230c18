// SPDX-License-Identifier: Apache-2.0
// Products of matrices of 8-bit integers, exact modulo 2^32.
//
// C[m, n] = sum over k of (A[m, k] - zeroA[m]) * (B[k, n] - zeroB[n])
//
// Operands are packed in 32-bit words along k, for instructions that multiply the parts and add them up: two int16,
// with zero points already subtracted, or, with VNNI, four bytes, unsigned for A and signed for B. Bytes of the other
// signedness are shifted by 128, and zero points are subtracted from the sums:  C = sum(A B) - zeroA[m] * (sum of B[.,
// n] - K zeroB[n]) - zeroB[n] * sum of A[m, .]
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/tensor.h"
#include "ops/op_kernel.h"

namespace max {

inline constexpr int kMaxIntegerTileRows = 8, kMaxIntegerTileVectors = 4;
inline constexpr int kMaxIntegerRows = 32;  // of tiles of any kind
inline constexpr int64_t kMaxIntegerBlockRows = 2 * kMaxIntegerRows;
inline constexpr int kMaxIntegerPanelColumns = 64;

class HeldTiles;
struct IntegerGemmTable;
struct Requantization;

// One micro-kernel call: one panel of columns, and a tile of some rows, or several tiles.
struct IntegerTile {
  // Rows of A consist of pieces of `words` words anywhere in memory: rows[piece * pieceStride + row]. A piece whose
  // rows are NULL adds nothing, to all tiles of a call.
  const uint8_t* const* rows;
  int64_t pieces, pieceStride, words;
  // Of a whole tile with one piece: where its words lie, in words from the row's pointer; NULL = one after the other.
  const int32_t* offsets;
  const int32_t* b;  // [pieces * words][panelColumns]
  // Memory to prefetch to the second cache, so many numbers per word; NULL = none.
  const int32_t* ahead;
  int64_t aheadStep;
  int32_t* c;
  int64_t ldc;
  int64_t columns;  // of the panel that exist
  // With bytes: c += rowFactors[m] * columnSums[n] + columnFactors[n] * rowSums[m]; NULL = without that term.
  const int32_t *rowFactors, *columnSums, *columnFactors, *rowSums;
  bool hasOneFactor;  // those of all columns are the same
  // 8-bit numbers in rows `outStride` apart, like `other`, which how->sum adds; c holds the sums meanwhile. NULL =
  // without.
  const Requantization* how;
  const uint8_t* other;
  uint8_t* out;
  int64_t outStride;
  // With `how`, instead of 8-bit numbers: what its factors and addends make of the sums, like c with ldc. NULL =
  // without.
  float* reals;
  int64_t tiles;  // of equal heights, one after the other
  // With tiles of AMX:
  int64_t count;  // of rows
  const IntegerGemmTable* vectors;
  HeldTiles* held;
  const int32_t* sums;  // rows of the panel's width that another kernel summed up; NULL = none

  // To the rows behind the first `some`.
  void advance(int64_t some) {
    rows += some;
    if (!how) c += some * ldc;
    if (rowFactors) rowFactors += some;
    if (rowSums) rowSums += some;
    if (other) other += some * outStride;
    if (out) out += some * outStride;
    if (reals) reals += some * outStride;
  }
};
// Tiles of one call. Longer ones are fewer, so that a thread often looks whether its call was stopped.
inline constexpr int64_t kMaxIntegerTiles = 8;
inline int64_t mostTilesPerCall(int64_t words) {
  return std::clamp<int64_t>((1 << 16) / std::max<int64_t>(words, 1), 1, kMaxIntegerTiles);
}

// Leaves `tile` behind its rows. (A copy of a tile that was just written would wait for all stores before it.)
using IntegerTileFunction = void (*)(IntegerTile& tile);

// Another 8-bit number to add to a requantised one: round((q - zero) * ownFactor + (other - otherZero) * otherFactor) +
// sumZero, between low and high; q and zero are those of the Requantization. Factors are scales divided by the sum's.
// Or numbers of the columns, divided likewise: round((q - zero) * ownFactors[n] + addends[n]) + sumZero.
struct RequantizedSum {
  const float *ownFactors, *addends;  // both, read in whole vectors, or neither: another 8-bit number
  bool otherIsSigned;
  float ownFactor, otherFactor;
  int32_t otherZero, sumZero, low, high;
};

// Sums to 8-bit numbers: round((sum + bias[n]) * factor[n]) + zero, between low and high. Sums, factors and bias are
// read in whole vectors.
struct Requantization {
  const float* factors;
  int32_t zero, low, high;
  const int32_t* bias = nullptr;        // NULL = none
  const RequantizedSum* sum = nullptr;  // NULL = none
  const float* addends = nullptr;       // to real numbers: (sum + bias[n]) * factor[n] + addend[n]; NULL = none
  bool mayOverflow = true;              // a factor's magnitude is not below 1, so that products may exceed 32 bits
};

inline bool mayOverflow(const float* factors, int64_t count) {
  return !std::all_of(factors, factors + count, [](float factor) { return -1 < factor && factor < 1; });
}

// Whether that may exceed 32 bits, before it is limited. What factors multiply are differences of bytes.
inline bool mayOverflow(const RequantizedSum& sum) {
  constexpr float kMost = 1 << 22;
  return !(std::abs(sum.ownFactor) < kMost && std::abs(sum.otherFactor) < kMost);
}

struct IntegerGemmTable {
  bool usesBytes;  // four in a word
  int tileRows, panelColumns;
  int lanes;                                                                           // of a vector of words
  std::array<IntegerTileFunction, kMaxIntegerTileRows> tiles[kMaxIntegerTileVectors];  // [vectors - 1][rows - 1]
  void (*requantize)(const int32_t* sums, int64_t count, const Requantization& how, const uint8_t* other, uint8_t* out);
  // Of a task, in whole tiles, at most kMaxIntegerBlockRows: its panel stays in the second cache, a tile's rows in the
  // first.
  int64_t blockRows = 56;
  bool takesOffsets = false;  // of words of a row
  // What packs bytes; NULL = plain code. Rows of A with some bits flipped, to rows `stride` apart or, if `to` is NULL,
  // only their sums.
  void (*copyRows)(const uint8_t* from, int64_t rows, int64_t depth, uint8_t flip, uint8_t* to, int64_t stride,
                   int32_t* sums) = nullptr;
  // Words of four rows of B, for a whole panel; `sums` grows by those of its columns.
  void (*joinRows)(const uint8_t* rows, int64_t stride, int64_t count, bool isSigned, uint32_t* sums,
                   int32_t* words) = nullptr;
  // With tiles of AMX (ops/cpu/matrix/tile_gemm.h):
  IntegerTileFunction anyTile = nullptr;      // of all sizes; NULL = see `tiles`
  const IntegerGemmTable* vectors = nullptr;  // the same products with vectors

  int64_t wordsOf(int64_t depth) const { return usesBytes ? (depth + 3) / 4 : (depth + 1) / 2; }
  int64_t panelsOf(int64_t columns) const { return (columns + panelColumns - 1) / panelColumns; }
  // Runs the narrowest kernel that has all columns of the tiles, which have so many rows each; leaves `tile` behind
  // them.
  void multiply(IntegerTile& tile, int64_t rows, int64_t count) const {
    tile.tiles = count;
    if (!anyTile) return tiles[(tile.columns - 1) / lanes][static_cast<size_t>(rows - 1)](tile);
    tile.count = rows;
    tile.vectors = vectors;
    for (; tile.tiles > 0; --tile.tiles) anyTile(tile);
  }
};
const IntegerGemmTable& integerGemmTable();                           // of cpuTarget()
const IntegerGemmTable& integerVectorTable();                         // likewise, without tiles of AMX
const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable& base);  // NULL if this machine has no such instructions

// 8-bit elements at data[row * rowStride + column * columnStride].
struct IntegerSource {
  const void* data;
  bool isSigned;
  int64_t rowStride, columnStride;
};

// One zero point for all, or one per row or column.
struct ZeroPoints {
  const void* data = nullptr;  // NULL = 0
  bool isSigned = false;
  int64_t count = 1;

  int32_t operator[](int64_t i) const;
  bool areAll(int32_t value) const;
  // Those of `columns` rows or columns from `first` on.
  ZeroPoints from(int64_t first, int64_t columns) const;
};

// Whether a scale or zero point has one element or `count`; input 0 = the operator has none.
bool hasCount(const OpRequest& request, size_t input, int64_t count);

// B ready for the micro-kernels, in memory of the caller.
struct PackedColumns {
  int32_t* words = nullptr;          // [panels][words][panelColumns]
  int32_t* columnSums = nullptr;     // with bytes, [panels * panelColumns]
  int32_t* columnFactors = nullptr;  // likewise
  bool hasFactors = false;           // any of them is not 0
  bool hasOneFactor = false;         // they are all the same

  static size_t bytes(const IntegerGemmTable& table, int64_t depth, int64_t columns);
  PackedColumns(const IntegerGemmTable& table, int64_t depth, int64_t columns, void* memory);
  // Those from a panel on.
  PackedColumns from(const IntegerGemmTable& table, int64_t depth, int64_t panel) const;
  // Whether any of their factors is not 0, and whether they differ.
  void noteFactors(const IntegerGemmTable& table, bool isSigned, const ZeroPoints& zeros);
};
void packColumns(const IntegerGemmTable& table, const IntegerSource& b, const ZeroPoints& zeros, int64_t depth,
                 int64_t columns, int lanes, PackedColumns& packed);

// A ready for the micro-kernels, in memory of the caller, or as it is.
struct PackedRows {
  uint8_t* copies = nullptr;
  const uint8_t* words = nullptr;  // [rows][words], of any alignment
  int32_t* factors = nullptr;      // with bytes, [rows]
  bool hasFactors = true;          // one of them is not 0
  int32_t* sums = nullptr;         // likewise, if asked for

  static size_t bytes(const IntegerGemmTable& table, int64_t rows, int64_t depth);
  PackedRows(const IntegerGemmTable& table, int64_t rows, int64_t depth, void* memory);
};

// A, which is dense.
struct IntegerRows {
  const void* data;
  bool isSigned;
  ZeroPoints zeros;
  int64_t rows, depth;
};
// Unsigned bytes in whole words stay where they are. `withSums`: columns have factors, which they are multiplied by.
void packRows(const IntegerGemmTable& table, const IntegerRows& a, bool withSums, int lanes, PackedRows& packed);

// Destination of the sums of a product: unchanged or as 8-bit numbers, in rows `stride` apart.
struct IntegerResult {
  int32_t* sums = nullptr;
  uint8_t* quantized = nullptr;
  float* reals = nullptr;  // with factors of columns and, with bytes, columnBias
  int64_t stride = 0;
  int32_t zero = 0, low = 0, high = 0;
  const float* columnFactors = nullptr;  // for each column,
  const float* rowFactors = nullptr;     // or for each row
  const int32_t* rowBias = nullptr;      // added to the sums; NULL = none
  // With bytes and factors of columns: added to the sums instead of the part of A's zero points, if that is the same in
  // all rows. These and the factors are read in whole vectors.
  const int32_t* columnBias = nullptr;
  const float* columnAddends = nullptr;  // to real numbers; NULL = none
  bool mayOverflow = true;               // see Requantization

  // The micro-kernels make the numbers themselves.
  bool inKernels(const IntegerGemmTable& table) const {
    return (quantized || reals) && columnFactors && !rowBias && (columnBias || !table.usesBytes);
  }
};

// Some panels of columns with rows [first, last); `sums` has room for a tile.
struct PanelProduct {
  const PackedRows& a;
  const PackedColumns& b;
  int64_t depth, columns;  // of the whole of B
  bool fromLast = false;   // panels in falling order: who alternates the order finds some of B in the cache
};
struct PanelRange {
  int64_t first, last;
};
void multiplyPanels(const IntegerGemmTable& table, const PanelProduct& product, const PanelRange& panels, int64_t first,
                    int64_t last, const IntegerResult& result, int32_t* sums);
size_t integerTileBytes(const IntegerGemmTable& table);

// Rows of A as tiles whose heights differ by at most one, and tiles in blocks.
class RowBlocks {
 public:
  RowBlocks(const IntegerGemmTable& table, int64_t rows) : RowBlocks(table, rows, table.blockRows) {}
  RowBlocks(const IntegerGemmTable& table, int64_t rows, int64_t mostRows)
      : tiles_((rows + table.tileRows - 1) / table.tileRows), mostRows_(std::min(rows, mostRows)) {
    const int64_t mostTiles = mostRows / table.tileRows;
    count_ = (tiles_ + mostTiles - 1) / mostTiles;
    if (tiles_ == 0) return;
    tileRows_ = rows / tiles_;
    tallTiles_ = rows % tiles_;
  }
  int64_t tiles() const { return tiles_; }
  int64_t count() const { return count_; }
  int64_t mostRows() const { return mostRows_; }
  int64_t firstTile(int64_t block) const { return tiles_ * block / count_; }
  int64_t rowsOf(int64_t tile) const { return tileRows_ + (tile < tallTiles_); }
  // Tiles of one height from this one to `last`.
  int64_t equalTiles(int64_t tile, int64_t last) const {
    return (tile < tallTiles_ ? std::min(tallTiles_, last) : last) - tile;
  }
  int64_t firstRow(int64_t tile) const { return tile * tileRows_ + std::min(tile, tallTiles_); }

 private:
  int64_t tiles_, mostRows_, count_;
  int64_t tileRows_ = 0, tallTiles_ = 0;  // the first tallTiles_ tiles have one row more than tileRows_
};

// The whole product; `sums` has room for a tile for each lane.
void multiplyIntegers(const IntegerGemmTable& table, const PanelProduct& product, int64_t rows,
                      const IntegerResult& result, int lanes, std::byte* sums);

}  // namespace max
