// SPDX-License-Identifier: Apache-2.0
// Micro-kernels and packing, per target. Accumulators live in arrays that the
// compiler must keep in registers: every loop over them is unrolled.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/interrupt_point.h"
#include "ops/cpu/matrix/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/gemm_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/sums-inl.h"
#include "ops/cpu/transpose-inl.h"
#include "ops/cpu/vector-inl.h"

#ifndef MAX_INLINE_LAMBDA
#define MAX_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using HalfD = hn::Half<D>;
using HalfV = hn::Vec<HalfD>;

constexpr int64_t kLanes = hn::MaxLanes(D());
// 32 registers hold 8 x 3 accumulators, 16 registers 6 x 2.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 8, kPanelVectors = 3;
constexpr int64_t kKBlock = 768;
constexpr int64_t kPrefetch = 512;  // floats of B that are prefetched into the first cache
constexpr bool kHasHalves = true, kSeesPanels = false;
constexpr int kStepsAhead = 1;  // of k, from one prefetch of the next panel to another: few tiles have much of it each
#else
constexpr int kTileRows = 6, kPanelVectors = 2;
constexpr int64_t kKBlock = 256;  // a panel of B of 16 KB stays in the first cache, beside rows of A
constexpr int64_t kPrefetch = 256;
constexpr bool kHasHalves = false, kSeesPanels = true;  // the chip sees B coming
constexpr int kStepsAhead = 2;
#endif

constexpr int kLineFloats = 16;  // a line of the caches
constexpr int64_t kSteps = 4;    // of k in one turn of the loop, or counters and prefetches take the time of products

// A single row waits for nothing but memory, which is further away; what is prefetched apart from its stream slows
// that.
template <int kRows>
constexpr int64_t kDistance = kRows == 1 ? 4 * kPrefetch : kPrefetch;

template <int kVectors, bool kWrites>
HWY_INLINE void prefetchRow(const float* row) {
  MAX_UNROLL for (int n = 0; n < kVectors * kLanes; n += kLineFloats) __builtin_prefetch(row + n, kWrites, 3);
}

// Rows of results and residuals are far from each other, so that the chip does not see them coming, and all at once
// they take the place of B on its way. Long tiles fetch one row after the other while they multiply.
template <int kRows, int kVectors>
class EndRows {
 public:
  HWY_INLINE explicit EndRows(const GemmTile& t)
      : t_(t), c_(t.c), residual_(t.finish ? t.residual : nullptr), turns_(t.taps * t.depth / (kSteps * kRows)) {}

  // In each turn.
  HWY_INLINE void pass() {
    if (HWY_UNLIKELY(--untilNext_ == 0)) fetchNext();
  }

 private:
  HWY_INLINE void fetchNext() {
    untilNext_ = left_ > 1 ? std::max<int64_t>(turns_, 1) : std::numeric_limits<int64_t>::max();
    --left_;
    prefetchRow<kVectors, true>(c_);
    c_ += t_.ldc;
    if (!residual_) return;
    prefetchRow<kVectors, false>(residual_);
    residual_ += t_.ldr;
  }

  const GemmTile& t_;
  const float *c_, *residual_;
  int64_t turns_;  // from one row to the next
  int64_t untilNext_ = 1;
  int left_ = kRows;
};

// `kHalf`: the last vector has half the lanes, whose products take half the time on chips that split wide vectors.
template <int kRows, int kVectors, bool kHalf = false>
struct Tile {
  static constexpr int kWhole = kVectors - kHalf;
  V sum[kRows][kVectors];  // the first kWhole of each row
  HalfV half[kRows];

  // Every vector of sums becomes function(tag, vector, row, column in vectors).
  template <class Function>
  HWY_INLINE void each(const Function& function) {
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      MAX_UNROLL for (int j = 0; j < kWhole; ++j) sum[i][j] = function(D(), sum[i][j], i, j);
      if constexpr (kHalf) half[i] = function(HalfD(), half[i], i, kWhole);
    }
  }

  // Column `j` in vectors of a row at `from`; the last has `tail` elements.
  template <class Tag>
  HWY_INLINE static hn::Vec<Tag> load(Tag d, const float* from, int j, int64_t tail) {
    return j + 1 < kVectors ? hn::LoadU(d, from + j * kLanes) : loadFirst(d, from + j * kLanes, tail);
  }

  // Starts from the bias if possible, which saves a pass over the sums.
  HWY_INLINE void start(const GemmTile& t) {
    if (startsWithBias(t)) {
      const int64_t tail = tailOf(t);
      each([&](auto d, auto, int, int j) MAX_INLINE_LAMBDA { return load(d, t.bias, j, tail); });
    } else {
      clear();
    }
  }
  HWY_INLINE static bool startsWithBias(const GemmTile& t) { return t.bias && !t.accumulate && t.epilogue->alpha == 1; }
  HWY_INLINE static int64_t tailOf(const GemmTile& t) { return t.columns - (kVectors - 1) * kLanes; }

  static constexpr int64_t kWidth = kVectors * kLanes;  // of a packed panel
  // Loads limit narrower tiles, whose products read A themselves if nothing keeps its values in registers.
  static constexpr bool kTakesTurns = kRows > 1 && kVectors == kPanelVectors;
  // A sum waits for its product before; a row of few vectors has too few others meanwhile. So it is in parts.
  static constexpr int kParts = kRows == 1 && kPanelVectors < 3 ? 4 : 1;

  // Whether rows of results and residuals arrive while it multiplies.
  HWY_INLINE static bool isLong(const GemmTile& t) {
    return kTakesTurns && t.bStride == kWidth && t.taps * t.depth >= kSteps * kRows;
  }

  HWY_INLINE void multiply(const GemmTile& t) {
    start(t);
    const float* const* rows = t.rows;
    const float* b = t.b;
    const float* ahead = t.ahead;
    EndRows<kRows, kVectors> ends(t);
    for (int64_t tap = 0; tap < t.taps; ++tap, rows += kTileRows) {
      if (!rows[0]) {
        b += t.depth * t.bStride;
        ahead += t.depth * t.aheadStep;
        continue;
      }
      const float* a[kRows];
      MAX_UNROLL for (int i = 0; i < kRows; ++i) a[i] = rows[i] + t.rowOffset;
      const int64_t stride = t.bStride, aheadStep = t.aheadStep;
      const bool looksAhead = kRows > 1 || t.depth * stride > kDistance<kRows>;  // not past all of a small B
      int64_t k = 0;
      if constexpr (kParts > 1)
        if (t.inParts) k = addParts(a[0], t, b, looksAhead);
      if constexpr (kTakesTurns) {
        const int64_t last = stride == kWidth ? t.depth & -kSteps : 0;
        for (; k < last; k += kSteps, b += kSteps * kWidth) turn(a, k, b, ahead, aheadStep, ends);
      }
      for (; k < t.depth; ++k, b += stride, ahead += aheadStep) {
        if constexpr (kRows > 1) __builtin_prefetch(ahead, 0, 2);
        if (looksAhead) {
          MAX_UNROLL for (int j = 0; j < kVectors; ++j) __builtin_prefetch(b + kDistance<kRows> + j * kLanes, 0, 3);
        }
        step<false>(a, k, b);
      }
    }
  }

  // Returns how many steps it took; `b` moves past them.
  HWY_INLINE int64_t addParts(const float* const& a, const GemmTile& t, const float*& b, bool looksAhead) {
    const float* const rows[kRows] = {a};
    Tile part[kParts - 1];
    for (Tile& each : part) each.clear();
    const int64_t stride = t.bStride, last = t.depth / kParts * kParts;
    for (int64_t k = 0; k < last; k += kParts, b += kParts * stride) {
      for (int64_t line = 0; looksAhead && line < kParts; ++line)
        __builtin_prefetch(b + kDistance<kRows> + line * stride, 0, 3);
      step<false>(rows, k, b);
      MAX_UNROLL for (int i = 1; i < kParts; ++i) part[i - 1].template step<false>(rows, k + i, b + i * stride);
    }
    for (const Tile& each : part) add(each);
    return last;
  }

  // Some steps with a packed panel.
  HWY_INLINE void turn(const float* const (&a)[kRows], int64_t k, const float* b, const float*& ahead,
                       int64_t aheadStep, EndRows<kRows, kVectors>& ends) {
    ends.pass();
    MAX_UNROLL for (int s = 0; s < kSteps; ++s) {
      if (s % kStepsAhead == 0) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += kStepsAhead * aheadStep;
      }
      step<true>(a, k + s, b + s * kWidth);
    }
  }

  template <bool kInTurn>
  HWY_INLINE void step(const float* const (&a)[kRows], int64_t k, const float* b) {
    V columns[kVectors];
    HalfV halfColumn;
    MAX_UNROLL for (int j = 0; j < kWhole; ++j) columns[j] = hn::LoadU(D(), b + j * kLanes);
    if constexpr (kHalf) halfColumn = hn::LoadU(HalfD(), b + kWhole * kLanes);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      const V value = hn::Set(D(), a[i][k]);
      MAX_UNROLL for (int j = 0; j < kWhole; ++j) sum[i][j] = hn::MulAdd(value, columns[j], sum[i][j]);
      const HalfV halfValue = hn::LowerHalf(HalfD(), value);
      if constexpr (kHalf) half[i] = hn::MulAdd(halfValue, halfColumn, half[i]);
      if constexpr (kInTurn) {
        keep(value);
        if constexpr (kHalf) keep(halfValue);
        if constexpr (!kSeesPanels) prefetchAfter(i, b + kPrefetch);
      }
    }
    if constexpr (kInTurn) {
      MAX_UNROLL for (int j = 0; j < kWhole; ++j) keep(columns[j]);
      if constexpr (kHalf) keep(halfColumn);
    }
  }

  // A vector is needed until here: where products are the last to read it, compilers may put a sum into its register,
  // and copy that back in each turn. They also keep what is before it there, else they would put the prefetches of a
  // turn before all its products: more lines than the chip waits for at a time.
  template <class Vector>
  HWY_INLINE static void keep(Vector vector) {
#if HWY_ARCH_X86
    __asm__ volatile("" : : "v"(vector.raw));
#endif
  }

  // Each vector of columns after another row's products.
  HWY_INLINE static void prefetchAfter(int row, const float* b) {
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
      if (std::max((j + 1) * kRows / (kVectors + 1), 1) - 1 != row) continue;
      __builtin_prefetch(b + j * kLanes, 0, 3);
    }
  }

  HWY_INLINE void clear() {
    each([](auto d, auto, int, int) MAX_INLINE_LAMBDA { return hn::Zero(d); });
  }

  HWY_INLINE void add(const Tile& other) {
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      MAX_UNROLL for (int j = 0; j < kWhole; ++j) sum[i][j] = hn::Add(sum[i][j], other.sum[i][j]);
      if constexpr (kHalf) half[i] = hn::Add(half[i], other.half[i]);
    }
  }

  // Adds a matrix at `from`.
  HWY_INLINE void add(const float* from, int64_t stride, int64_t tail) {
    each([&](auto d, auto v, int i, int j)
             MAX_INLINE_LAMBDA { return hn::Add(v, load(d, from + i * stride, j, tail)); });
  }

  HWY_INLINE void finish(const GemmTile& t, int64_t tail) {
    scaleAndAdd(t, tail);
    if (t.residual && !t.epilogue->addsResidualLast) add(t.residual, t.ldr, tail);
    clamp(t.epilogue->activation);
    if (t.residual && addsLastInRegisters(t)) add(t.residual, t.ldr, tail);
  }
  HWY_INLINE static bool addsLastInRegisters(const GemmTile& t) {
    return t.epilogue->addsResidualLast && !t.epilogue->activation.function;
  }

  HWY_INLINE void scaleAndAdd(const GemmTile& t, int64_t tail) {
    const float alpha = t.epilogue->alpha;
    if (alpha != 1) each([&](auto d, auto v, int, int) MAX_INLINE_LAMBDA { return hn::Mul(v, hn::Set(d, alpha)); });
    if (t.bias && alpha != 1) add(t.bias, 0, tail);
  }

  HWY_INLINE void clamp(const Activation& activation) {
    if (!activation.clamps) return;
    each([&](auto d, auto v, int, int) MAX_INLINE_LAMBDA { return hn::Max(hn::Set(d, activation.low), v); });
    if (activation.high == std::numeric_limits<float>::infinity()) return;
    each([&](auto d, auto v, int, int) MAX_INLINE_LAMBDA { return hn::Min(hn::Set(d, activation.high), v); });
  }

  HWY_INLINE void store(float* c, int64_t ldc, int64_t tail) const {
    MAX_UNROLL for (int i = 0; i < kRows; ++i, c += ldc) {
      MAX_UNROLL for (int j = 0; j + 1 < kVectors; ++j) hn::StoreU(sum[i][j], D(), c + j * kLanes);
      if constexpr (kHalf)
        storeFirst(HalfD(), half[i], c + kWhole * kLanes, tail);
      else
        storeFirst(D(), sum[i][kVectors - 1], c + (kVectors - 1) * kLanes, tail);
    }
  }
};

void applyFunction(const Activation& activation, float* c, int64_t ldc, int64_t rows, int64_t columns) {
  if (ldc == columns) {  // rows of a few columns: most of the time would go into calls
    columns *= rows;
    rows = 1;
  }
  TileOperands operands{};
  operands.step[0] = 1;
  operands.count = columns;
  operands.alpha = activation.alpha;
  operands.beta = activation.beta;
  for (int64_t i = 0; i < rows; ++i) {
    operands.dst = c + i * ldc;
    operands.src[0] = c + i * ldc;
    activation.function(operands);
  }
}

void addRows(const GemmTile& t, int64_t rows) {
  const D d;
  for (int64_t i = 0; i < rows; ++i) {
    float* to = t.c + i * t.ldc;
    const float* from = t.residual + i * t.ldr;
    int64_t n = 0;
    for (; n + kLanes <= t.columns; n += kLanes)
      hn::StoreU(hn::Add(hn::LoadU(d, to + n), hn::LoadU(d, from + n)), d, to + n);
    const int64_t rest = t.columns - n;
    if (rest > 0) storeFirst(d, hn::Add(loadFirst(d, to + n, rest), loadFirst(d, from + n, rest)), to + n, rest);
  }
}

// From sums to C.
template <int kRows, int kVectors, bool kHalf>
HWY_INLINE void complete(Tile<kRows, kVectors, kHalf>& tile, const GemmTile& t) {
  const int64_t tail = tile.tailOf(t);
  if (t.accumulate) tile.add(t.c, t.ldc, tail);
  if (t.finish) tile.finish(t, tail);
  tile.store(t.c, t.ldc, tail);
  if (!t.finish || !t.epilogue->activation.function) return;
  applyFunction(t.epilogue->activation, t.c, t.ldc, kRows, t.columns);
  if (t.residual && t.epilogue->addsResidualLast) addRows(t, kRows);
}

// A short tile needs all its residuals soon. Stores of results need not wait for memory, but a function reads them
// back.
template <int kRows, int kVectors>
HWY_INLINE void prefetchEnds(const GemmTile& t) {
  const bool readsBack = t.epilogue->activation.function;
#pragma GCC unroll 1
  for (int i = 0; i < kRows; ++i) {
    if (t.residual) prefetchRow<kVectors, false>(t.residual + i * t.ldr);
    if (readsBack) prefetchRow<kVectors, true>(t.c + i * t.ldc);
  }
}

template <int kRows, int kVectors, bool kHalf>
void runTile(const GemmTile& t) {
  Tile<kRows, kVectors, kHalf> tile;
  if (t.finish && !tile.isLong(t)) prefetchEnds<kRows, kVectors>(t);
  tile.multiply(t);
  complete(tile, t);
}

constexpr int64_t kNewPage = 1 << 18;  // steps that a huge page takes (base/interrupt_point.h)

// Copies up to one panel's columns of one row, from any place; the rest is zero.
HWY_INLINE void copyRow(const float* from, int64_t count, int64_t width, float* to) {
  const D d;
  int64_t n = 0;
  for (; n + kLanes <= count; n += kLanes) hn::StoreU(hn::LoadU(d, from + n), d, to + n);
  if (n == width) return;
  std::memset(to + n, 0, static_cast<size_t>(width - n) * sizeof(float));
  std::memcpy(to + n, from + n, static_cast<size_t>(count - n) * sizeof(float));
}

void packRows(const PackSource& source, int64_t begin, int64_t end, float* packed) {
  const Panels panels(kLanes, kPanelVectors, source.columns);
  // A few rows at a time: reads the source along its rows and writes each panel in pieces of some cache lines.
  WorkCounter work;
  for (int64_t k0 = begin; k0 < end; k0 += 8)
    for (int64_t panel = 0; panel < panels.count; ++panel) {
      const int64_t first = panels.begin(panel), width = panels.width(panel);
      // The first rows may touch new memory: up to a huge page per panel.
      work.pass(k0 > begin ? 256 : 256 + std::min<int64_t>(source.rows() * width, kNewPage));
      float* to = packed + first * source.rows();
      const int64_t count = std::min(width, source.columns - first);
      for (int64_t k = k0; k < std::min(k0 + 8, end); ++k)
        copyRow(source.data + k * source.rowStride + first, count, width, to + k * width);
    }
}

// The row of packed B that holds row k of the source.
HWY_INLINE int64_t packedRow(const PackSource& source, int64_t k) {
  return source.taps == 1 ? k : k % source.taps * source.depth + k / source.taps;
}

// A vector of columns of B, which are not contiguous. Behind the last one it repeats itself.
struct ColumnVector {
  const float* from[kLanes];

  ColumnVector(const PackSource& source, int64_t first) {
    for (int64_t i = 0; i < kLanes; ++i)
      from[i] = source.data + std::min(first + i, source.columns - 1) * source.columnStride;
  }
};

// A vector of columns of B, from column `first` on, into their panel at `to`; rows [begin, end) of the source. What is
// behind the last column is zero.
void packColumns(const PackSource& source, int64_t begin, int64_t end, int64_t first, int64_t width, float* to) {
  const ColumnVector columns(source, first);
  const int64_t count = std::min(kLanes, source.columns - first);
  WorkCounter work;
  int64_t k = begin;
#if HWY_TARGET != HWY_SCALAR
  const D d;
  const auto some = hn::FirstN(d, static_cast<size_t>(count));
  for (; source.rowStride == 1 && k + 4 <= end; k += 4, work.pass(kLanes)) {
    V rows[4];
    transposeFour(columns.from, k, rows);
    for (int i = 0; i < 4; ++i) hn::StoreU(hn::IfThenElseZero(some, rows[i]), d, to + packedRow(source, k + i) * width);
  }
#endif
  for (; k < end; ++k, work.pass(kLanes))
    for (int64_t n = 0; n < kLanes; ++n)
      if (float& packed = to[packedRow(source, k) * width + n] = 0; n < count)
        hwy::CopyBytes<sizeof packed>(columns.from[n] + k * source.rowStride, &packed);
}

void pack(const PackSource& source, int64_t begin, int64_t end, float* packed) {
  if (source.columnStride == 1 && source.taps == 1) return packRows(source, begin, end, packed);
  const Panels panels(kLanes, kPanelVectors, source.columns);
  WorkCounter work;
  for (int64_t panel = 0; panel < panels.count; ++panel, work.pass(16)) {
    const int64_t first = panels.begin(panel), width = panels.width(panel);
    for (int64_t n = 0; n < width; n += kLanes)
      packColumns(source, begin, end, first + n, width, packed + first * source.rows() + n);
  }
}

// Products with kColumns columns of b, as long as no look at the work is needed. A single one is summed up in four
// parts, as four columns are.
template <int kColumns>
HWY_INLINE void dotColumns(const float* a, const float* b, int64_t ldb, int64_t depth, float* out) {
  const D d;
  constexpr int kSums = 4;
  constexpr int64_t kStep = kColumns == 1 ? kSums * kLanes : kLanes;
  const int64_t along = kColumns == 1 ? 0 : 1, apart = kColumns == 1 ? kLanes : ldb;
  V sum[kSums];
  MAX_UNROLL for (int j = 0; j < kSums; ++j) sum[j] = hn::Zero(d);
  int64_t k = 0;
  for (; k + kStep <= depth; k += kStep)
    MAX_UNROLL for (int j = 0; j < kSums; ++j) sum[j] =
        hn::MulAdd(hn::LoadU(d, a + k + (1 - along) * j * kLanes), hn::LoadU(d, b + j * apart + k), sum[j]);
  for (; k < depth; k += kLanes) {
    const V value = loadFirst(d, a + k, depth - k);
    MAX_UNROLL for (int j = 0; j < kColumns; ++j) sum[j] =
        hn::MulAdd(value, loadFirst(d, b + j * ldb + k, depth - k), sum[j]);
  }
  if constexpr (kColumns == 1)
    out[0] = sumOf(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3])));
  else
    sumsOf<kSums>(sum, out);
}

// The same with columns of a vector or less.
void dotVectors(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out) {
  const D d;
  const V value = loadFirst(d, a, depth);
  WorkCounter work;
  int64_t n = 0;
  for (; n + 4 <= columns; n += 4, b += 4 * ldb, work.pass(4)) {
    const V products[4] = {hn::Mul(value, loadFirst(d, b, depth)), hn::Mul(value, loadFirst(d, b + ldb, depth)),
                           hn::Mul(value, loadFirst(d, b + 2 * ldb, depth)),
                           hn::Mul(value, loadFirst(d, b + 3 * ldb, depth))};
    sumsOf<4>(products, out + n);
  }
  for (; n < columns; ++n, b += ldb) out[n] = sumOf(d, hn::Mul(value, loadFirst(d, b, depth)));
}

void dotShort(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out) {
  WorkCounter work;
  int64_t n = 0;
  for (; n + 4 <= columns; n += 4, work.pass(depth)) dotColumns<4>(a, b + n * ldb, ldb, depth, out + n);
  for (; n < columns; ++n, work.pass(depth)) dotColumns<1>(a, b + n * ldb, ldb, depth, out + n);
}

void dot(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out) {
  if (depth <= kLanes) return dotVectors(a, b, ldb, depth, columns, out);
  if (depth <= kStepsPerLook) return dotShort(a, b, ldb, depth, columns, out);
  for (int64_t n = 0; n < columns; ++n) {
    out[n] = 0;
    for (int64_t k = 0; k < depth; k += kStepsPerLook) {
      float part;
      dotShort(a + k, b + n * ldb + k, ldb, std::min<int64_t>(kStepsPerLook, depth - k), 1, &part);
      out[n] += part;
    }
  }
}

// The sums of kColumns columns and four rows, of which the last ones may be the same, over a part of their depth.
template <int kColumns>
HWY_INLINE void multiplyColumns(const float* const (&rows)[4], const float* columns, int64_t stride, int64_t begin,
                                int64_t end, float (*sums)[4]) {
  const D d;
  V sum[kColumns][4];
  MAX_UNROLL for (int j = 0; j < kColumns; ++j) MAX_UNROLL for (int i = 0; i < 4; ++i) sum[j][i] = hn::Zero(d);
  const auto add = [&](int64_t k, auto load) MAX_INLINE_LAMBDA {
    V value[kColumns];
    MAX_UNROLL for (int j = 0; j < kColumns; ++j) value[j] = load(columns + j * stride + k);
    MAX_UNROLL for (int i = 0; i < 4; ++i) {
      const V row = load(rows[i] + k);
      MAX_UNROLL for (int j = 0; j < kColumns; ++j) sum[j][i] = hn::MulAdd(value[j], row, sum[j][i]);
    }
  };
  int64_t k = begin;
  for (; k + kLanes <= end; k += kLanes)
    add(k, [&](const float* from) MAX_INLINE_LAMBDA { return hn::LoadU(d, from); });
  if (k < end) add(k, [&](const float* from) MAX_INLINE_LAMBDA { return loadFirst(d, from, end - k); });
  MAX_UNROLL for (int j = 0; j < kColumns; ++j) sumsOf<4>(sum[j], sums[j]);
}

// Of one column or two.
HWY_INLINE void multiplyColumns(const FewColumns& t, const float* const (&rows)[4], int64_t column, int64_t begin,
                                int64_t end, float (*sums)[4]) {
  const float* columns = t.b + column * t.depth;
  if (column + 1 < t.columns) return multiplyColumns<2>(rows, columns, t.depth, begin, end, sums);
  multiplyColumns<1>(rows, columns, t.depth, begin, end, sums);
}

// What the other parts add to the sums of the first one.
HWY_NOINLINE void addLaterParts(const FewColumns& t, const float* const (&rows)[4], int64_t column, float (*sums)[4]) {
  WorkCounter work;
  double total[2][4] = {};
  for (int64_t begin = 0; begin < t.depth; begin += t.part) {
    const int64_t end = std::min(begin + t.part, t.depth);
    if (begin > 0) multiplyColumns(t, rows, column, begin, end, sums);
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 4; ++i) total[j][i] += static_cast<double>(sums[j][i]);
    work.pass(end - begin);
  }
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 4; ++i) sums[j][i] = static_cast<float>(total[j][i]);
}

void fewColumns(const FewColumns& t) {
  WorkCounter work;
  float* out = t.out;
  for (int64_t m = 0; m < t.rows; m += 4) {
    const int64_t some = std::min<int64_t>(4, t.rows - m);
    const float* rows[4];
    for (int64_t i = 0; i < 4; ++i) rows[i] = t.a + (m + std::min(i, some - 1)) * t.depth;
    for (int64_t n = 0; n < t.columns; n += 2) {
      float sums[2][4] = {};
      const int64_t first = std::min(t.part, t.depth);
      multiplyColumns(t, rows, n, 0, first, sums);
      if (first < t.depth) addLaterParts(t, rows, n, sums);
      for (int64_t j = 0; j < std::min<int64_t>(2, t.columns - n); ++j)
        for (int64_t i = 0; i < some; ++i) out[i * t.columns + n + j] = sums[j][i];
      work.pass(first);
    }
    out += some * t.columns;
  }
}

// Adds the products of some rows of B, which are summed up first: long sums round less often so.
template <int kCount>
HWY_INLINE void streamRows(const float* a, const float* b, int64_t ldb, int64_t columns, float* out) {
  const D d;
  V values[kCount];
  MAX_UNROLL for (int j = 0; j < kCount; ++j) values[j] = hn::Set(d, a[j]);
  const auto sumAt = [&](auto load) MAX_INLINE_LAMBDA {
    V sum = hn::Mul(values[0], load(b));
    MAX_UNROLL for (int j = 1; j < kCount; ++j) sum = hn::MulAdd(values[j], load(b + j * ldb), sum);
    return sum;
  };
  int64_t n = 0;
  for (; n + kLanes <= columns; n += kLanes)
    hn::StoreU(hn::Add(hn::LoadU(d, out + n),
                       sumAt([&](const float* row) MAX_INLINE_LAMBDA { return hn::LoadU(d, row + n); })),
               d, out + n);
  const int64_t rest = columns - n;
  if (rest > 0)
    storeFirst(d, hn::Add(loadFirst(d, out + n, rest), sumAt([&](const float* row) MAX_INLINE_LAMBDA {
                            return loadFirst(d, row + n, rest);
                          })),
               out + n, rest);
}

void streamRow(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out) {
  constexpr int kAtOnce = 8;
  std::fill_n(out, columns, 0.f);
  WorkCounter work;
  int64_t k = 0;
  for (; k + kAtOnce <= depth; k += kAtOnce, work.pass(columns))
    streamRows<kAtOnce>(a + k, b + k * ldb, ldb, columns, out);
  for (; k < depth; ++k, work.pass(columns)) streamRows<1>(a + k, b + k * ldb, ldb, columns, out);
}

template <int kRows, int kVectors>
HWY_INLINE void shortSumsTile(const ShortSums& s, int64_t row) {
  const D d;
  const int64_t tail = s.columns - (kVectors - 1) * kLanes;
  const float* a = s.a + row * s.lda;
  V sum[kRows][kVectors];
  MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
    const int64_t count = j + 1 < kVectors ? kLanes : tail;
    const V start = s.bias ? loadFirst(d, s.bias + j * kLanes, count) : hn::Zero(d);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) sum[i][j] = start;
  }
  for (int64_t k = 0; k < s.depth; ++k) {
    V columns[kVectors];
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) columns[j] = hn::LoadU(d, s.b + k * s.bStride + j * kLanes);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      const V value = hn::Set(d, a[i * s.lda + k]);
      MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(value, columns[j], sum[i][j]);
    }
  }
  if (s.activation.clamps) {
    const V low = hn::Set(d, s.activation.low), high = hn::Set(d, s.activation.high);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] =
        hn::Min(high, hn::Max(low, sum[i][j]));
  }
  float* c = s.c + row * s.ldc;
  MAX_UNROLL for (int i = 0; i < kRows; ++i, c += s.ldc) {
    MAX_UNROLL for (int j = 0; j + 1 < kVectors; ++j) hn::StoreU(sum[i][j], d, c + j * kLanes);
    storeFirst(d, sum[i][kVectors - 1], c + (kVectors - 1) * kLanes, tail);
  }
}

template <int kVectors>
void shortSumsOf(const ShortSums& s) {
  constexpr int kRows = kTileRows / 2;
  int64_t row = 0;
  for (; row + kRows <= s.rows; row += kRows) shortSumsTile<kRows, kVectors>(s, row);
  for (; row < s.rows; ++row) shortSumsTile<1, kVectors>(s, row);
  if (s.activation.function) applyFunction(s.activation, s.c, s.ldc, s.rows, s.columns);
}

void shortSums(const ShortSums& s) {
  const int64_t vectors = (s.columns + kLanes - 1) / kLanes;
  if constexpr (kPanelVectors > 2)
    if (vectors > 2) return shortSumsOf<kPanelVectors>(s);
  vectors > 1 ? shortSumsOf<2>(s) : shortSumsOf<1>(s);
}

template <int kRows, int kVectors = kPanelVectors>
constexpr void setTiles(GemmTable& table) {
  table.tiles[kRows - 1][2 * kVectors - 2] = runTile<kRows, kVectors, kHasHalves>;
  table.tiles[kRows - 1][2 * kVectors - 1] = runTile<kRows, kVectors, false>;
  if constexpr (kVectors > 1) setTiles<kRows, kVectors - 1>(table);
  if constexpr (kVectors == 1 && kRows > 1) setTiles<kRows - 1>(table);
}

constexpr GemmTable makeTable() {
  GemmTable table{kLanes,    kTileRows, kPanelVectors, kKBlock, 1,       {},      pack,    dot,    fewColumns,
                  streamRow, shortSums, nullptr,       nullptr, nullptr, nullptr, nullptr, nullptr};
  setTiles<kTileRows>(table);
  return table;
}

}  // namespace

extern const GemmTable kGemmTable;
constexpr GemmTable kGemmTable = makeTable();

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#include "ops/cpu/matrix/gemm_bf16-inl.h"

#if HWY_ONCE
namespace max {

const GemmTable& gemmTable() { return MAX_CHOOSE_TARGET(kGemmTable); }

const GemmTable* bfloat16VectorTable() {
#if HWY_TARGETS & HWY_AVX3
  if (cpuTarget() >= CpuTarget::Avx512Bf16) return &N_AVX3::kBFloat16GemmTable;
#endif
  return nullptr;
}

}  // namespace max
#endif
