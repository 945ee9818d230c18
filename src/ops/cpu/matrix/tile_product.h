// SPDX-License-Identifier: Apache-2.0
// Products with AMX's tiles, written over a few operations on them: `Tiles` is the processor's instructions
// (gemm_amx.cpp) or, in tests, a plain emulation (tests/unit/emulated_tiles.h).
//
// Operands are the words of products with vectors: rows of A anywhere in memory, and packed rows of B, 16 of which are
// a tile as they lie there. A block of 32 x 32 sums takes all eight tiles. Rows of A at equal distances are read in
// place, others are copied, a tile at a time. The kernels for vectors turn sums into results.
#pragma once

#include <cstddef>
#include <cstring>

#include "ops/cpu/matrix/tiles.h"

namespace max {

// What one block multiplies.
template <class T>
struct TileWords {
  const T* const* rows;                // rows[piece * pieceStride + row]; a piece whose first row is NULL adds nothing
  int64_t offset;                      // added to each pointer
  int64_t count;                       // of rows, at most 32
  int64_t pieces, pieceStride, words;  // of a piece
  const void* b;                       // a row for each word
  int64_t bStride;                     // in bytes
  const std::byte* ahead;              // memory to prefetch to the second cache, so many bytes per word; NULL = none
  int64_t aheadStep;
  // Factors in two parts: from first parts to second ones, in elements of A and bytes of B; 0 = none. Without the
  // product of both second parts.
  int64_t rowPart = 0, bPart = 0;
  int64_t rowStride = 0;  // from one row of a piece to the next, in bytes; 0 = unknown
};

// Words of rows, from one piece or several: the part of a tile that exists.
template <class T>
struct RowWords {
  const T* const* rows;  // of the first piece
  int64_t offset;        // added to each pointer
  int64_t pieceStride, words;
  int64_t word;  // the first one, in the first piece
  int64_t some;  // at most 16
};

struct DotPairs {
  template <class Tiles, int kSum, int kA, int kB>
  static void add() {
    Tiles::template dotPairs<kSum, kA, kB>();
  }
};
struct DotBytes {
  template <class Tiles, int kSum, int kA, int kB>
  static void add() {
    Tiles::template dotBytes<kSum, kA, kB>();
  }
};

// kDown x kAcross tiles of sums.
template <class Tiles, class Dot, class T, int kDown, int kAcross>
class TileBlock {
 public:
  void clear() {
    Tiles::template zero<kSums>();
    if constexpr (kAcross == 2) Tiles::template zero<kSums + 1>();
    if constexpr (kDown == 2) Tiles::template zero<kSums + 2>();
    if constexpr (kDown * kAcross == 4) Tiles::template zero<kSums + 3>();
  }

  void add(const TileWords<T>& words) {
    w_ = &words;
    for (int64_t first = 0, last = 0; first < words.pieces; first = last + 1) {
      for (last = first; last < words.pieces && words.rows[last * words.pieceStride];) ++last;
      addPieces(first, last);
    }
  }

  // Rows of sums are `stride` bytes apart.
  void store(std::byte* to, int64_t stride) const {
    constexpr int64_t kRight = TileLimits::kRowBytes;
    std::byte* below = to + TileLimits::kRows * stride;
    Tiles::template store<kSums>(to, stride);
    if constexpr (kAcross == 2) Tiles::template store<kSums + 1>(to + kRight, stride);
    if constexpr (kDown == 2) Tiles::template store<kSums + 2>(below, stride);
    if constexpr (kDown * kAcross == 4) Tiles::template store<kSums + 3>(below + kRight, stride);
  }

 private:
  static constexpr int kSums = BlockTiles::kSums, kA = BlockTiles::kA, kB = BlockTiles::kB;
  static constexpr int64_t kWords = TileLimits::kWords, kRowBytes = TileLimits::kRowBytes;

  // What a tile is loaded from.
  struct Source {
    const std::byte* at;
    int64_t stride;
  };

  // The words of consecutive pieces are those of consecutive rows of B.
  void addPieces(int64_t first, int64_t last) {
    const auto* b = static_cast<const std::byte*>(w_->b) + first * w_->words * w_->bStride;
    const std::byte* ahead = w_->ahead ? w_->ahead + first * w_->words * w_->aheadStep : nullptr;
    int64_t piece = first, word = 0;
    if (first < last) lookAt(first);
    for (int64_t left = (last - first) * w_->words; left > 0; left -= kWords, b += kWords * w_->bStride) {
      for (int64_t i = 0; ahead && i < kWords * w_->aheadStep; i += kRowBytes) __builtin_prefetch(ahead + i, 0, 2);
      if (ahead) ahead += kWords * w_->aheadStep;
      step(piece, word, std::min(left, kWords), b);
      const int64_t before = piece;
      for (word += kWords; word >= w_->words; word -= w_->words) ++piece;
      if (piece != before && piece < last) lookAt(piece);
    }
  }

  // The first parts are loaded once for two products each.
  void step(int64_t piece, int64_t word, int64_t some, const std::byte* b) {
    loadColumns(b, some);
    if (w_->rowPart) addRows(piece, word, some, w_->rowPart);
    addRows(piece, word, some, 0);
    if (!w_->bPart) return;
    loadColumns(b + w_->bPart, some);
    addUpper();
    addLower();
  }

  void loadColumns(const std::byte* b, int64_t some) {
    const Source columns = some == kWords ? Source{b, w_->bStride} : lastColumns(b, some);
    Tiles::template load<kB>(columns.at, columns.stride);
    if constexpr (kAcross == 2) Tiles::template load<kB + 1>(columns.at + kRowBytes, columns.stride);
  }

  void addRows(int64_t piece, int64_t word, int64_t some, int64_t part) {
    const Source upper = rowsOf(0, piece, word, some, part);
    Tiles::template load<kA>(upper.at, upper.stride);
    addUpper();
    if constexpr (kDown == 1) return;
    const Source lower = rowsOf(kDown - 1, piece, word, some, part);
    Tiles::template load<kA + 1>(lower.at, lower.stride);
    addLower();
  }

  void addUpper() {
    Dot::template add<Tiles, kSums, kA, kB>();
    if constexpr (kAcross == 2) Dot::template add<Tiles, kSums + 1, kA, kB + 1>();
  }
  void addLower() {
    if constexpr (kDown == 1) return;
    Dot::template add<Tiles, kSums + 2, kA + 1, kB>();
    if constexpr (kAcross == 2) Dot::template add<Tiles, kSums + 3, kA + 1, kB + 1>();
  }

  const std::byte* addressOf(int64_t piece, int64_t row) const {
    return reinterpret_cast<const std::byte*>(w_->rows[piece * w_->pieceStride + row] + w_->offset);
  }
  int64_t rowsIn(int half) const { return std::min(w_->count - half * TileLimits::kRows, TileLimits::kRows); }

  // Whether the rows of each half are at equal distances in this piece.
  void lookAt(int64_t piece) {
    for (int half = 0; half < kDown; ++half) {
      distances_[half] = w_->rowStride;
      isEven_[half] = w_->rowStride != 0;
      if (isEven_[half]) continue;
      const int64_t first = half * TileLimits::kRows, count = rowsIn(half);
      const auto place = [&](int64_t i) { return reinterpret_cast<intptr_t>(addressOf(piece, first + i)); };
      const int64_t distance = count > 1 ? place(1) - place(0) : kRowBytes;
      distances_[half] = distance;
      isEven_[half] = true;
      for (int64_t i = 2; i < count; ++i) isEven_[half] &= place(i) - place(i - 1) == distance;
    }
  }

  Source rowsOf(int half, int64_t piece, int64_t word, int64_t some, int64_t part) {
    const int64_t first = half * TileLimits::kRows, offset = w_->offset + part;
    if (isEven_[half] && some == kWords && word + kWords <= w_->words) {
      const auto* row = w_->rows[piece * w_->pieceStride + first] + offset;
      return {reinterpret_cast<const std::byte*>(row) + 4 * word, distances_[half]};
    }
    const RowWords<T> from{w_->rows + piece * w_->pieceStride + first, offset, w_->pieceStride, w_->words, word, some};
    Tiles::copyRows(from, rowsIn(half), rows_[half]);
    return {rows_[half], kRowBytes};
  }

  Source lastColumns(const std::byte* b, int64_t some) {
    constexpr size_t kBytes = kAcross * kRowBytes;
    for (int64_t k = 0; k < some; ++k) std::memcpy(columns_ + k * 2 * kRowBytes, b + k * w_->bStride, kBytes);
    for (int64_t k = some; k < kWords; ++k) std::memset(columns_ + k * 2 * kRowBytes, 0, kBytes);
    return {columns_, 2 * kRowBytes};
  }

  const TileWords<T>* w_ = nullptr;
  int64_t distances_[kDown] = {};
  bool isEven_[kDown] = {};
  alignas(64) std::byte rows_[kDown][TileLimits::kRows * kRowBytes];
  alignas(64) std::byte columns_[kWords * 2 * kRowBytes];
};

template <class Tiles, class Dot, class T, int kDown, int kAcross>
void sumBlock(const TileWords<T>& words, std::byte* sums, int64_t stride) {
  TileBlock<Tiles, Dot, T, kDown, kAcross> block;
  block.clear();
  block.add(words);
  block.store(sums, stride);
}

// A product of at most 32 rows and columns; rows of sums are `stride` bytes apart. Whole tiles are written.
template <class Tiles, class Dot, class T>
void sumProducts(const TileWords<T>& words, int64_t columns, HeldTiles& held, void* sums, int64_t stride) {
  using Sum = void (*)(const TileWords<T>& words, std::byte* sums, int64_t stride);
  static constexpr Sum kSums[2][2] = {{sumBlock<Tiles, Dot, T, 1, 1>, sumBlock<Tiles, Dot, T, 1, 2>},
                                      {sumBlock<Tiles, Dot, T, 2, 1>, sumBlock<Tiles, Dot, T, 2, 2>}};
  held.shapeFor<Tiles>(words.count);
  kSums[words.count > TileLimits::kRows][columns > TileLimits::kWords](words, static_cast<std::byte*>(sums), stride);
}

}  // namespace max
