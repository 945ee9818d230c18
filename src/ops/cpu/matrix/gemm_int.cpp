// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/matrix/gemm_int.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/thread_pool.h"
#include "ops/cpu/matrix/tiles.h"
#include "ops/cpu/movement/transpose_tile.h"

namespace max {

namespace {

int32_t elementAt(const void* data, bool isSigned, int64_t i) {
  return isSigned ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
}

size_t alignedBytes(int64_t words) { return alignUp(checkedMultiply(static_cast<size_t>(words), sizeof(int32_t))); }

// The offset that gives bytes the signedness that the instruction expects: A unsigned, B signed.
int32_t shiftOfA(bool isSigned) { return isSigned ? 128 : 0; }
int32_t shiftOfB(bool isSigned) { return isSigned ? 0 : -128; }

// Packs the columns of one panel, row after row of B.
class PanelPacker {
 public:
  PanelPacker(const IntegerGemmTable& table, const IntegerSource& b, const ZeroPoints& zeros, int64_t depth,
              int64_t columns, PackedColumns& packed)
      : table_(table),
        b_(b),
        zeros_(zeros),
        depth_(depth),
        columns_(columns),
        packed_(packed),
        zero_(zeros.count > 0 ? zeros[0] : 0) {}

  void pack(int64_t panel) const {
    const int64_t width = table_.panelColumns, first = panel * width, words = table_.wordsOf(depth_);
    const int64_t count = std::min(width, columns_ - first);
    int32_t* out = packed_.words + panel * words * width;
    uint32_t sums[kMostColumns] = {};  // all sums are modulo 2^32
    int32_t shifts[kMostColumns];
    for (int64_t n = 0; n < count; ++n) shifts[n] = table_.usesBytes ? shiftOfB(b_.isSigned) : -zeroOf(first + n);
    const int64_t parts = table_.usesBytes ? 4 : 2;
    WorkCounter work;
    int64_t k = 0;
    if (table_.usesBytes && b_.rowStride == 1 && depth_ >= parts) {
      packWords(first, count, sums, out);
      k = depth_ / parts * parts;
      out += k / parts * width;
    }
    for (; k < depth_; k += parts, out += width, work.pass(width)) {
      if (table_.usesBytes && k + parts <= depth_ && b_.columnStride == 1) {
        packFour(first, count, k, sums, out);
        std::fill_n(out + count, width - count, 0);
        continue;
      }
      std::fill_n(out, width, 0);
      for (int64_t i = 0; i < std::min(parts, depth_ - k); ++i)
        addPart(first, count, k + i, static_cast<int>(i), shifts, sums, out);
    }
    if (!table_.usesBytes) return;
    for (int64_t n = 0; n < width; ++n) {
      const int32_t zero = n < count ? zeroOf(first + n) : 0;
      const uint32_t offset = static_cast<uint32_t>(depth_) * static_cast<uint32_t>(zero);
      packed_.columnSums[first + n] = n < count ? static_cast<int32_t>(sums[n] - offset) : 0;
      packed_.columnFactors[first + n] = n < count ? -(zero + shiftOfB(b_.isSigned)) : 0;
    }
  }

 private:
  static constexpr int kMostColumns = kMaxIntegerPanelColumns;

  int32_t zeroOf(int64_t column) const { return zeros_.count == 1 ? zero_ : zeros_[column]; }

  // Rows k to k + 3 of B as whole words.
  void packFour(int64_t first, int64_t count, int64_t k, uint32_t* sums, int32_t* out) const {
    if (table_.joinRows)
      table_.joinRows(static_cast<const uint8_t*>(b_.data) + k * b_.rowStride + first, b_.rowStride, count, b_.isSigned,
                      sums, out);
    else if (b_.isSigned)
      packFour(static_cast<const int8_t*>(b_.data) + k * b_.rowStride + first, 0, count, sums, out);
    else
      packFour(static_cast<const uint8_t*>(b_.data) + k * b_.rowStride + first, 0x80808080u, count, sums, out);
  }
  template <class T>
  void packFour(const T* rows, uint32_t flip, int64_t count, uint32_t* sums, int32_t* out) const {
    const T *a = rows, *b = a + b_.rowStride, *c = b + b_.rowStride, *d = c + b_.rowStride;
    const auto byte = [](T value) { return static_cast<uint32_t>(static_cast<uint8_t>(value)); };
    for (int64_t n = 0; n < count; ++n) {
      out[n] = static_cast<int32_t>((byte(a[n]) | byte(b[n]) << 8 | byte(c[n]) << 16 | byte(d[n]) << 24) ^ flip);
      sums[n] += static_cast<uint32_t>(a[n] + b[n] + c[n] + d[n]);
    }
  }

  // Columns whose bytes are consecutive: their words are the rows of a matrix that is transposed.
  void packWords(int64_t first, int64_t count, uint32_t* sums, int32_t* out) const {
    const int64_t width = table_.panelColumns, words = depth_ / 4;
    const auto* columns = static_cast<const std::byte*>(b_.data) + first * b_.columnStride;
    transposeTiles(4, columns, b_.columnStride, reinterpret_cast<std::byte*>(out), width * 4, count, words);
    const int32_t flip = b_.isSigned ? 0 : static_cast<int32_t>(0x80808080u);
    WorkCounter work;
    for (int64_t k = 0; k < words; ++k, out += width, work.pass(width)) {
      if (flip != 0)
        for (int64_t n = 0; n < count; ++n) out[n] ^= flip;
      std::fill_n(out + count, width - count, 0);
    }
    for (int64_t n = 0; n < count; ++n, columns += b_.columnStride) {
      // Signed bytes are 128 less than with the other sign.
      sums[n] = sumOfWords(columns, words, b_.isSigned ? 0x80808080u : 0);
      if (b_.isSigned) sums[n] -= 128 * 4 * static_cast<uint32_t>(words);
    }
  }

  // Of all bytes, in halves of words that have room for the sums of so many.
  static uint32_t sumOfWords(const std::byte* from, int64_t count, uint32_t flip) {
    constexpr int64_t kWords = 16, kMost = 64 * kWords;
    constexpr uint32_t kEven = 0x00ff00ffu;
    uint32_t sum = 0;
    for (int64_t begin = 0; begin < count; begin += kMost, passWork(kMost)) {
      uint32_t halves[kWords] = {};
      const auto add = [&](int64_t i, int64_t place) {
        uint32_t word;
        std::memcpy(&word, from + 4 * i, 4);
        word ^= flip;
        halves[place] += (word & kEven) + (word >> 8 & kEven);
      };
      const int64_t end = std::min(begin + kMost, count);
      int64_t i = begin;
      for (; i + kWords <= end; i += kWords)
        for (int64_t place = 0; place < kWords; ++place) add(i + place, place);
      for (; i < end; ++i) add(i, 0);
      for (const uint32_t each : halves) sum += (each & 0xffff) + (each >> 16);
    }
    return sum;
  }

  // Row k of B as part i of the words.
  void addPart(int64_t first, int64_t count, int64_t k, int i, const int32_t* shifts, uint32_t* sums,
               int32_t* out) const {
    const int64_t at = k * b_.rowStride + first * b_.columnStride;
    if (b_.isSigned)
      addPart(static_cast<const int8_t*>(b_.data) + at, count, i, shifts, sums, out);
    else
      addPart(static_cast<const uint8_t*>(b_.data) + at, count, i, shifts, sums, out);
  }
  template <class T>
  void addPart(const T* row, int64_t count, int i, const int32_t* shifts, uint32_t* sums, int32_t* out) const {
    const uint32_t mask = table_.usesBytes ? 0xff : 0xffff;
    const int shift = table_.usesBytes ? 8 * i : 16 * i;
    const auto add = [&](int64_t n, int32_t value) {
      sums[n] += static_cast<uint32_t>(value);
      out[n] |= static_cast<int32_t>((static_cast<uint32_t>(value + shifts[n]) & mask) << shift);
    };
    if (b_.columnStride == 1)
      for (int64_t n = 0; n < count; ++n) add(n, row[n]);
    else
      for (int64_t n = 0; n < count; ++n) add(n, row[n * b_.columnStride]);
  }

  const IntegerGemmTable& table_;
  const IntegerSource& b_;
  const ZeroPoints& zeros_;
  int64_t depth_, columns_;
  PackedColumns& packed_;
  int32_t zero_;  // of the first column
};

void widenRow(const uint8_t* from, bool isSigned, int64_t depth, int32_t zero, int16_t* to) {
  const auto* signedFrom = reinterpret_cast<const int8_t*>(from);
  inParts(depth, 1, [&](int64_t begin, int64_t end) {
    if (isSigned)
      for (int64_t k = begin; k < end; ++k) to[k] = static_cast<int16_t>(signedFrom[k] - zero);
    else
      for (int64_t k = begin; k < end; ++k) to[k] = static_cast<int16_t>(from[k] - zero);
  });
}

void copyRows(const uint8_t* from, int64_t rows, int64_t depth, uint8_t flip, uint8_t* to, int64_t stride,
              int32_t* sums) {
  for (int64_t row = 0; row < rows; ++row, from += depth) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const uint8_t byte = from[k] ^ flip;
      if (to) to[row * stride + k] = byte;
      sum += byte;
    }
    sums[row] = static_cast<int32_t>(sum);
  }
}

// Bytes of A that are packed at once.
constexpr int64_t kPackedBytes = 32768;

// Rows of A, or only their sums; long ones in parts, between which stops are looked for.
void copyAllRows(const IntegerGemmTable& table, const uint8_t* from, int64_t rows, int64_t depth, uint8_t flip,
                 uint8_t* to, int64_t stride, int32_t* sums) {
  const auto copy = table.copyRows ? table.copyRows : copyRows;
  if (depth <= kPackedBytes) return copy(from, rows, depth, flip, to, stride, sums);
  for (int64_t row = 0; row < rows; ++row, from += depth) {
    uint8_t* copied = to ? to + row * stride : nullptr;
    uint32_t sum = 0;
    inParts(depth, 1, [&](int64_t begin, int64_t end) {
      int32_t part;
      copy(from + begin, 1, end - begin, flip, copied ? copied + begin : nullptr, stride, &part);
      sum += static_cast<uint32_t>(part);
    });
    sums[row] = static_cast<int32_t>(sum);
  }
}

// Addresses of consecutive rows, those of some tiles at a time. They stay known for other panels if there are few.
class RowPointers {
 public:
  static constexpr int64_t kMost = kMaxIntegerTiles * kMaxIntegerRows;

  RowPointers(const uint8_t* first, int64_t stride, int64_t count) : first_(first), stride_(stride), count_(count) {}

  void rewind() { at_ = 0; }

  const uint8_t* const* next(int64_t count) {
    if (at_ < begin_ || at_ + count > end_) fill();
    const uint8_t** rows = pointers_ + (at_ - begin_);
    at_ += count;
    return rows;
  }

 private:
  void fill() {
    begin_ = at_;
    end_ = std::min(count_, begin_ + kMost);
    const int64_t stride = stride_;
    const uint8_t* row = first_ + begin_ * stride;
    for (int64_t i = 0; i < end_ - begin_; ++i, row += stride) pointers_[i] = row;
  }

  const uint8_t* first_;
  int64_t stride_, count_;
  int64_t at_ = 0, begin_ = 0, end_ = 0;  // the next row, and those that are known
  const uint8_t* pointers_[kMost];
};

// Sums of one row of a tile to 8-bit numbers.
void finishRow(const IntegerGemmTable& table, const IntegerResult& result, int64_t row, int64_t column, int64_t count,
               int32_t* sums) {
  float factors[kMaxIntegerPanelColumns];
  if (result.rowBias)
    for (int64_t n = 0; n < count; ++n)
      sums[n] = static_cast<int32_t>(static_cast<uint32_t>(sums[n]) + static_cast<uint32_t>(result.rowBias[row]));
  if (result.rowFactors) std::fill_n(factors, table.panelColumns, result.rowFactors[row]);
  const Requantization how{result.rowFactors ? factors : result.columnFactors + column, result.zero, result.low,
                           result.high};
  table.requantize(sums, count, how, nullptr, result.quantized + row * result.stride + column);
}

}  // namespace

bool hasCount(const OpRequest& request, size_t input, int64_t count) {
  if (input == 0 || !request.has(input)) return true;
  const int64_t own = request.inputs[input].shape.count();
  return own == 1 || own == count;
}

int32_t ZeroPoints::operator[](int64_t i) const {
  return data ? elementAt(data, isSigned, count == 1 ? 0 : i < count ? i : i % count) : 0;
}

bool ZeroPoints::areAll(int32_t value) const {
  for (int64_t i = 0; i < count; ++i)
    if ((*this)[i] != value) return false;
  return true;
}

ZeroPoints ZeroPoints::from(int64_t first, int64_t columns) const {
  return count == 1 ? *this : ZeroPoints{static_cast<const std::byte*>(data) + first, isSigned, columns};
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

PackedColumns PackedColumns::from(const IntegerGemmTable& table, int64_t depth, int64_t panel) const {
  PackedColumns part = *this;
  const int64_t first = panel * table.panelColumns;
  part.words += first * table.wordsOf(depth);
  part.columnSums += first;
  part.columnFactors += first;
  return part;
}

void PackedColumns::noteFactors(const IntegerGemmTable& table, bool isSigned, const ZeroPoints& zeros) {
  hasFactors = table.usesBytes && !zeros.areAll(-shiftOfB(isSigned));
  hasOneFactor = zeros.count == 1;
}

void packColumns(const IntegerGemmTable& table, const IntegerSource& b, const ZeroPoints& zeros, int64_t depth,
                 int64_t columns, int lanes, PackedColumns& packed) {
  const PanelPacker packer(table, b, zeros, depth, columns, packed);
  parallelFor(lanes, table.panelsOf(columns), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) packer.pack(panel);
  });
  packed.noteFactors(table, b.isSigned, zeros);
}

size_t PackedRows::bytes(const IntegerGemmTable& table, int64_t rows, int64_t depth) {
  const int64_t words = checkedMultiply(rows, table.wordsOf(depth));
  return checkedAdd(alignedBytes(words), alignedBytes(checkedMultiply<int64_t>(rows, 2)));
}

PackedRows::PackedRows(const IntegerGemmTable& table, int64_t rows, int64_t depth, void* memory)
    : copies(static_cast<uint8_t*>(memory)), words(copies) {
  factors = reinterpret_cast<int32_t*>(copies + alignedBytes(rows * table.wordsOf(depth)));
  sums = factors + rows;
}

void packRows(const IntegerGemmTable& table, const IntegerRows& a, bool withSums, int lanes, PackedRows& packed) {
  const int64_t depth = a.depth, stride = 4 * table.wordsOf(depth);
  const bool stays = table.usesBytes && !a.isSigned && stride == depth;
  packed.hasFactors = !a.zeros.areAll(-shiftOfA(a.isSigned));
  packed.words = stays ? static_cast<const uint8_t*>(a.data) : packed.copies;
  if (stays && !withSums && !packed.hasFactors) return;
  const int64_t each = stays && !withSums ? 1 : std::max<int64_t>(depth, 1);
  const int64_t rowsAtOnce = std::max<int64_t>(1, kPackedBytes / each);
  parallelFor(lanes, a.rows, rowsAtOnce, [&](int64_t begin, int64_t end, int) {
    const int32_t shift = shiftOfA(a.isSigned), first = -(a.zeros[begin] + shift);
    WorkCounter work;
    for (int64_t row = begin, some; row < end; row += some, work.pass(some * each)) {
      some = std::min(end - row, rowsAtOnce);
      for (int64_t i = row; packed.hasFactors && i < row + some; ++i)
        packed.factors[i] = a.zeros.count == 1 ? first : -(a.zeros[i] + shift);
      const auto* from = static_cast<const uint8_t*>(a.data) + row * depth;
      uint8_t* to = stays ? nullptr : packed.copies + row * stride;
      for (int64_t i = 0; to && stride > 0 && i < some; ++i) std::memset(to + (i + 1) * stride - 4, 0, 4);
      if (table.usesBytes && (withSums || !stays))
        copyAllRows(table, from, some, depth, a.isSigned ? 0x80 : 0, to, stride, packed.sums + row);
      for (int64_t i = 0; !table.usesBytes && i < some; ++i)
        widenRow(from + i * depth, a.isSigned, depth, a.zeros[row + i], reinterpret_cast<int16_t*>(to + i * stride));
    }
  });
}

size_t integerTileBytes(const IntegerGemmTable& table) {
  constexpr int64_t kTilesAtOnce = 2;  // where panels are narrow
  return alignedBytes(kTilesAtOnce * table.tileRows * table.panelColumns);
}

// Rows from `first` on of a panel, in tiles.
static void multiplyRows(const IntegerGemmTable& table, const PanelProduct& product, int64_t panel, int64_t first,
                         const RowBlocks& tiles, RowPointers& rows, const IntegerResult& result, int32_t* sums) {
  const int64_t width = table.panelColumns, column = panel * width, words = table.wordsOf(product.depth);
  constexpr int64_t kStepsPerWord = 8;  // of a tile, base/interrupt_point.h
  WorkCounter work;
  const bool inKernels = result.inKernels(table);
  Requantization how{nullptr, result.zero, result.low, result.high};
  if (inKernels) how.factors = result.columnFactors + column;
  how.mayOverflow = result.mayOverflow;
  if (inKernels && result.columnBias) how.bias = result.columnBias + column;
  if (inKernels && result.columnAddends) how.addends = result.columnAddends + column;
  HeldTiles held;
  const int64_t place = first * result.stride + column;
  IntegerTile tile{};
  tile.held = &held;
  tile.pieces = 1;
  tile.b = product.b.words + panel * words * width;
  tile.words = words;
  tile.c = result.sums ? result.sums + place : sums;
  tile.ldc = result.sums ? result.stride : width;
  tile.columns = std::min(width, product.columns - column);
  tile.how = inKernels ? &how : nullptr;
  tile.outStride = result.stride;
  if (inKernels && result.quantized) tile.out = result.quantized + place;
  if (inKernels && result.reals) tile.reals = result.reals + place;
  if (table.usesBytes) {
    tile.rowFactors = inKernels || !product.a.hasFactors ? nullptr : product.a.factors + first;
    tile.columnSums = product.b.columnSums + column;
    tile.columnFactors = product.b.hasFactors ? product.b.columnFactors + column : nullptr;
    tile.hasOneFactor = product.b.hasOneFactor;
    tile.rowSums = product.a.sums + first;
  }
  tile.aheadStep = tiles.tiles() == 1 ? width : (width + tiles.tiles() - 1) / std::max<int64_t>(tiles.tiles(), 1);
  // The next panel. Behind the last one the chip would look for pages that nobody has touched.
  const bool isLast = product.fromLast ? panel == 0 : column + width >= product.columns;
  if (!isLast) tile.ahead = tile.b + (product.fromLast ? -words : words) * width;
  const bool finishesRows = !result.sums && !inKernels;
  for (int64_t at = 0, row = first, some; at < tiles.tiles(); at += some) {
    const int64_t each = tiles.rowsOf(at);
    some = finishesRows ? 1 : std::min(tiles.equalTiles(at, tiles.tiles()), mostTilesPerCall(words));
    tile.rows = rows.next(some * each);
    table.multiply(tile, each, some);
    work.pass(some * (16 + words * kStepsPerWord));
    if (finishesRows)
      for (int64_t i = 0; i < each; ++i) finishRow(table, result, row + i, column, tile.columns, sums + i * width);
    row += some * each;
    if (finishesRows) tile.c = sums;
  }
}

void multiplyPanels(const IntegerGemmTable& table, const PanelProduct& product, const PanelRange& panels, int64_t first,
                    int64_t last, const IntegerResult& result, int32_t* sums) {
  const int64_t words = table.wordsOf(product.depth);
  RowPointers rows(product.a.words + 4 * first * words, 4 * words, last - first);
  const RowBlocks tiles(table, last - first);
  for (int64_t i = panels.first; i < panels.last; ++i, rows.rewind()) {
    const int64_t panel = product.fromLast ? panels.first + panels.last - 1 - i : i;
    multiplyRows(table, product, panel, first, tiles, rows, result, sums);
  }
}

// Short rows: as many as the first cache has room for beside a panel, if all lanes have some tasks.
static int64_t rowsOfTask(const IntegerGemmTable& table, int64_t depth, int64_t rowsOfLane) {
  constexpr int64_t kCachedBytes = 16 << 10, kTasks = 8;
  const int64_t bytes = 4 * std::max<int64_t>(table.wordsOf(depth), 1);
  const int64_t most = std::min({kCachedBytes / bytes, RowPointers::kMost, rowsOfLane / kTasks});
  return std::max(table.blockRows, most);
}

void multiplyIntegers(const IntegerGemmTable& table, const PanelProduct& product, int64_t rows,
                      const IntegerResult& result, int lanes, std::byte* sums) {
  if (rows == 0 || product.columns == 0) return;
  const int64_t panels = table.panelsOf(product.columns);
  const RowBlocks blocks(table, rows, rowsOfTask(table, product.depth, panels * rows / std::max(lanes, 1)));
  // Few rows wait for B, as long as four take; the next product with B finds a lane's part in its cache, unless lanes
  // take small parts from each other.
  const int64_t work = std::max<int64_t>(blocks.mostRows(), 4) * product.depth * table.panelColumns;
  const int64_t least = rows <= table.tileRows ? panels / (2 * std::max(lanes, 1)) : 1;
  const int64_t grain = std::max<int64_t>({1, least, (1 << 18) / std::max<int64_t>(work, 1)});
  // What the second cache does not hold is read only once: A or B.
  const bool isByPanel = product.columns > rows;
  parallelFor(lanes, panels * blocks.count(), grain, [&](int64_t begin, int64_t end, int lane) {
    auto* tile = reinterpret_cast<int32_t*>(sums + static_cast<size_t>(lane) * integerTileBytes(table));
    if (blocks.count() == 1) return multiplyPanels(table, product, {begin, end}, 0, rows, result, tile);
    for (int64_t task = begin, some = 1; task < end; task += some) {
      const int64_t panel = isByPanel ? task / blocks.count() : task % panels;
      const int64_t block = isByPanel ? task % blocks.count() : task / panels;
      const int64_t first = blocks.firstTile(block), last = blocks.firstTile(block + 1);
      if (!isByPanel) some = std::min(panels - panel, end - task);
      multiplyPanels(table, product, {panel, panel + some}, blocks.firstRow(first), blocks.firstRow(last), result,
                     tile);
    }
  });
}

}  // namespace max
