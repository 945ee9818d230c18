// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/gemm_int.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/thread_pool.h"

namespace max {

namespace {

int32_t elementAt(const void* data, bool isSigned, int64_t i) {
  return isSigned ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
}

size_t alignedBytes(int64_t words) {
  return (checkedMultiply(static_cast<size_t>(words), sizeof(int32_t)) + 63) / 64 * 64;
}

// What bytes are shifted by to have the sign that the instruction expects: A none, B one.
int32_t shiftOfA(bool isSigned) { return isSigned ? 128 : 0; }
int32_t shiftOfB(bool isSigned) { return isSigned ? 0 : -128; }

class ColumnPacker {
 public:
  ColumnPacker(const IntegerGemmTable& table, const IntegerSource& b, const ZeroPoints& zeros, int64_t depth,
               int64_t columns, PackedColumns& packed)
      : table_(table), b_(b), zeros_(zeros), depth_(depth), columns_(columns), packed_(packed) {}

  void packPanel(int64_t panel) const {
    const int64_t width = table_.panelColumns, first = panel * width, words = table_.wordsOf(depth_);
    int32_t* out = packed_.words + panel * words * width;
    for (int64_t n = 0; n < width; ++n) {
      const int64_t column = first + n;
      const int32_t sum = column < columns_ ? packColumn(column, out + n) : clearColumn(out + n);
      if (!table_.usesBytes) continue;
      const int32_t zero = column < columns_ ? zeros_[column] : 0;
      packed_.columnSums[column] = sum - static_cast<int32_t>(depth_) * zero;
      packed_.columnFactors[column] = column < columns_ ? -(zero + shiftOfB(b_.isSigned)) : 0;
    }
  }

 private:
  int32_t clearColumn(int32_t* out) const {
    for (int64_t word = 0; word < table_.wordsOf(depth_); ++word) out[word * table_.panelColumns] = 0;
    return 0;
  }

  // Returns the sum of the elements.
  int32_t packColumn(int64_t column, int32_t* out) const {
    const int parts = table_.usesBytes ? 4 : 2;
    const int32_t shift = table_.usesBytes ? shiftOfB(b_.isSigned) : -zeros_[column];
    int32_t sum = 0;
    for (int64_t k = 0; k < depth_; k += parts, out += table_.panelColumns) {
      uint32_t word = 0;
      for (int i = 0; i < parts && k + i < depth_; ++i) {
        const int32_t value = elementAt(b_.data, b_.isSigned, (k + i) * b_.rowStride + column * b_.columnStride);
        sum += value;
        const auto part = static_cast<uint32_t>(value + shift);
        word |= table_.usesBytes ? (part & 0xff) << (8 * i) : (part & 0xffff) << (16 * i);
      }
      *out = static_cast<int32_t>(word);
    }
    return sum;
  }

  const IntegerGemmTable& table_;
  const IntegerSource& b_;
  const ZeroPoints& zeros_;
  int64_t depth_, columns_;
  PackedColumns& packed_;
};

// Rows of A as words.
class RowPacker {
 public:
  RowPacker(const IntegerGemmTable& table, const IntegerProduct& product, std::byte* scratch)
      : table_(table), product_(product), words_(table.wordsOf(product.depth)) {
    a_ = reinterpret_cast<int32_t*>(scratch);
    factors_ = reinterpret_cast<int32_t*>(scratch + alignedBytes(product.rows * words_));
    sums_ = factors_ + product.rows;
  }
  static size_t bytes(const IntegerGemmTable& table, int64_t rows, int64_t depth) {
    return checkedAdd(alignedBytes(checkedMultiply(rows, table.wordsOf(depth))),
                      alignedBytes(checkedMultiply<int64_t>(rows, 2)));
  }

  void pack(int64_t row, bool needsSum) {
    const auto* from = static_cast<const uint8_t*>(product_.a) + row * product_.depth;
    int32_t* to = a_ + row * words_;
    if (words_ > 0) to[words_ - 1] = 0;
    const int32_t zero = product_.aZeros[row];
    if (!table_.usesBytes) return packWide(from, reinterpret_cast<int16_t*>(to), zero);
    auto* bytes = reinterpret_cast<uint8_t*>(to);
    const uint8_t flip = product_.aIsSigned ? 0x80 : 0;
    for (int64_t k = 0; k < product_.depth; ++k) bytes[k] = from[k] ^ flip;
    factors_[row] = -(zero + shiftOfA(product_.aIsSigned));
    int32_t sum = 0;
    if (needsSum)
      for (int64_t k = 0; k < product_.depth; ++k) sum += bytes[k];
    sums_[row] = sum;
  }

  const int32_t* row(int64_t row) const { return a_ + row * words_; }
  const int32_t* factors(int64_t row) const { return factors_ + row; }
  const int32_t* sums(int64_t row) const { return sums_ + row; }

 private:
  void packWide(const uint8_t* from, int16_t* to, int32_t zero) const {
    const auto* signedFrom = reinterpret_cast<const int8_t*>(from);
    if (product_.aIsSigned)
      for (int64_t k = 0; k < product_.depth; ++k) to[k] = static_cast<int16_t>(signedFrom[k] - zero);
    else
      for (int64_t k = 0; k < product_.depth; ++k) to[k] = static_cast<int16_t>(from[k] - zero);
  }

  const IntegerGemmTable& table_;
  const IntegerProduct& product_;
  int64_t words_;
  int32_t *a_, *factors_, *sums_;
};

// Runs the micro-kernel on one tile, and what follows it.
class TileRunner {
 public:
  TileRunner(const IntegerGemmTable& table, const IntegerProduct& product, const PackedColumns& b,
             const RowPacker& rows)
      : table_(table), product_(product), b_(b), rows_(rows), words_(table.wordsOf(product.depth)) {}

  void run(int64_t row, int64_t count, int64_t panel, int32_t* sums) const {
    const int64_t width = table_.panelColumns, column = panel * width;
    const int64_t columns = std::min(width, product_.columns - column);
    const bool keeps = product_.sums != nullptr;
    IntegerTile tile{};
    tile.a = rows_.row(row);
    tile.lda = words_;
    tile.b = b_.words + panel * words_ * width;
    tile.words = words_;
    tile.c = keeps ? product_.sums + row * product_.columns + column : sums;
    tile.ldc = keeps ? product_.columns : width;
    tile.columns = columns;
    if (table_.usesBytes) {
      tile.rowFactors = rows_.factors(row);
      tile.columnSums = b_.columnSums + column;
      tile.columnFactors = b_.hasFactors ? b_.columnFactors + column : nullptr;
      tile.rowSums = rows_.sums(row);
    }
    table_.tiles[count - 1](tile);
    if (keeps) return;
    Requantization how = product_.requantization;
    how.factors += column;
    for (int64_t i = 0; i < count; ++i)
      table_.requantize(sums + i * width, columns, how, product_.quantized + (row + i) * product_.columns + column);
  }

 private:
  const IntegerGemmTable& table_;
  const IntegerProduct& product_;
  const PackedColumns& b_;
  const RowPacker& rows_;
  int64_t words_;
};

}  // namespace

int32_t ZeroPoints::operator[](int64_t i) const {
  return data ? elementAt(data, isSigned, count == 1 ? 0 : i % count) : 0;
}

bool ZeroPoints::areAll(int32_t value) const {
  for (int64_t i = 0; i < count; ++i)
    if ((*this)[i] != value) return false;
  return true;
}

size_t PackedColumns::bytes(const IntegerGemmTable& table, int64_t depth, int64_t columns) {
  const int64_t padded = checkedMultiply<int64_t>(table.panelsOf(columns), table.panelColumns);
  return checkedAdd(alignedBytes(checkedMultiply(padded, table.wordsOf(depth))), 2 * alignedBytes(padded));
}

PackedColumns::PackedColumns(const IntegerGemmTable& table, int64_t depth, int64_t columns, void* memory) {
  const int64_t padded = table.panelsOf(columns) * table.panelColumns;
  auto* bytes = static_cast<std::byte*>(memory);
  words = reinterpret_cast<int32_t*>(bytes);
  columnSums = reinterpret_cast<int32_t*>(bytes + alignedBytes(padded * table.wordsOf(depth)));
  columnFactors = reinterpret_cast<int32_t*>(reinterpret_cast<std::byte*>(columnSums) + alignedBytes(padded));
}

void packColumns(const IntegerGemmTable& table, const IntegerSource& b, const ZeroPoints& zeros, int64_t depth,
                 int64_t columns, int lanes, PackedColumns& packed) {
  const ColumnPacker packer(table, b, zeros, depth, columns, packed);
  parallelFor(lanes, table.panelsOf(columns), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) packer.packPanel(panel);
  });
  packed.hasFactors = table.usesBytes && !zeros.areAll(-shiftOfB(b.isSigned));
}

size_t integerScratchBytes(const IntegerGemmTable& table, int64_t rows, int64_t depth, int lanes) {
  const size_t tiles = static_cast<size_t>(lanes) * alignedBytes(int64_t{table.tileRows} * table.panelColumns);
  return checkedAdd(RowPacker::bytes(table, rows, depth), tiles);
}

void multiplyIntegers(const IntegerGemmTable& table, const IntegerProduct& product, const PackedColumns& b, int lanes,
                      std::byte* scratch) {
  if (product.rows == 0 || product.columns == 0) return;
  const size_t tileBytes = alignedBytes(int64_t{table.tileRows} * table.panelColumns);
  std::byte* rest = scratch + static_cast<size_t>(lanes) * tileBytes;
  RowPacker rows(table, product, rest);
  const int64_t rowGrain = std::max<int64_t>(1, 32768 / std::max<int64_t>(product.depth, 1));
  parallelFor(lanes, product.rows, rowGrain, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) rows.pack(row, b.hasFactors);
  });
  const TileRunner runner(table, product, b, rows);
  // A task is one panel and a block of rows: the panel stays in the second cache, a tile's rows in the first.
  constexpr int64_t kBlockRows = 64;
  const int64_t panels = table.panelsOf(product.columns), blocks = (product.rows + kBlockRows - 1) / kBlockRows;
  const int64_t work = std::min(product.rows, kBlockRows) * product.depth * table.panelColumns;
  const int64_t grain = std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(work, 1));
  parallelFor(lanes, panels * blocks, grain, [&](int64_t begin, int64_t end, int lane) {
    auto* sums = reinterpret_cast<int32_t*>(scratch + static_cast<size_t>(lane) * tileBytes);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t panel = task % panels, first = task / panels * kBlockRows;
      const int64_t last = std::min(product.rows, first + kBlockRows);
      for (int64_t row = first; row < last; row += table.tileRows)
        runner.run(row, std::min<int64_t>(table.tileRows, last - row), panel, sums);
    }
  });
}

}  // namespace max
