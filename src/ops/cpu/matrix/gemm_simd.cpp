// SPDX-License-Identifier: Apache-2.0
// Micro-kernels and packing, per target. Accumulators live in arrays that the
// compiler must keep in registers: every loop over them is unrolled.
#include <algorithm>
#include <array>
#include <limits>

#include "base/interrupt_point.h"
#include "ops/cpu/matrix/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/gemm_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector-inl.h"

#ifndef MAX_UNROLL
#define MAX_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int64_t kLanes = hn::MaxLanes(D());
// 32 registers hold 8 x 3 accumulators, 16 registers 6 x 2.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 8, kPanelVectors = 3;
constexpr int64_t kKBlock = 768;
constexpr int64_t kPrefetch = 512;  // floats of B that are prefetched into the first cache
#else
constexpr int kTileRows = 6, kPanelVectors = 2;
constexpr int64_t kKBlock = 384;
constexpr int64_t kPrefetch = 256;
#endif

template <int kRows, int kVectors>
struct Tile {
  V sum[kRows][kVectors];

  // Starts from the bias if possible, which saves a pass over the sums.
  HWY_INLINE void start(const GemmTile& t) {
    const D d;
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[0][j] = hn::Zero(d);
    if (startsWithBias(t)) {
      MAX_UNROLL for (int j = 0; j + 1 < kVectors; ++j) sum[0][j] = hn::LoadU(d, t.bias + j * kLanes);
      constexpr int kLast = kVectors - 1;
      sum[0][kLast] = loadFirst(d, t.bias + kLast * kLanes, t.columns - kLast * kLanes);
    }
    MAX_UNROLL for (int i = 1; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = sum[0][j];
  }
  HWY_INLINE static bool startsWithBias(const GemmTile& t) { return t.bias && !t.accumulate && t.epilogue->alpha == 1; }

  HWY_INLINE void multiply(const GemmTile& t) {
    start(t);
    const float* const* rows = t.rows;
    const float* b = t.b;
    const float* ahead = t.ahead;
    for (int64_t tap = 0; tap < t.taps; ++tap, rows += kTileRows) {
      const float* a[kRows];
      MAX_UNROLL for (int i = 0; i < kRows; ++i) a[i] = rows[i] + t.rowOffset;
      for (int64_t k = 0; k < t.depth; ++k, b += t.bStride, ahead += t.aheadStep) {
        __builtin_prefetch(ahead, 0, 2);
        MAX_UNROLL for (int j = 0; j < kVectors; ++j) __builtin_prefetch(b + kPrefetch + j * kLanes, 0, 3);
        step(a, k, b);
      }
    }
  }

  HWY_INLINE void step(const float* const (&a)[kRows], int64_t k, const float* b) {
    const D d;
    V columns[kVectors];
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) columns[j] = hn::LoadU(d, b + j * kLanes);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      const V value = hn::Set(d, a[i][k]);
      MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(value, columns[j], sum[i][j]);
    }
  }

  // sum[i][j] = function(sum[i][j], vector at from + i * stride + j vectors)
  template <class Function>
  HWY_INLINE void combine(const float* from, int64_t stride, int64_t tail, const Function& function) {
    const D d;
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      MAX_UNROLL for (int j = 0; j + 1 < kVectors; ++j) sum[i][j] =
          function(sum[i][j], hn::LoadU(d, from + i * stride + j * kLanes));
      constexpr int kLast = kVectors - 1;
      sum[i][kLast] = function(sum[i][kLast], loadFirst(d, from + i * stride + kLast * kLanes, tail));
    }
  }

  HWY_INLINE void finish(const GemmTile& t, int64_t tail) {
    const D d;
    const auto add = [](V a, V b) HWY_ATTR { return hn::Add(a, b); };
    const Epilogue& epilogue = *t.epilogue;
    if (epilogue.alpha != 1) {
      const V alpha = hn::Set(d, epilogue.alpha);
      MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] =
          hn::Mul(sum[i][j], alpha);
    }
    if (t.bias && epilogue.alpha != 1) combine(t.bias, 0, tail, add);
    if (t.residual) combine(t.residual, t.ldr, tail, add);
    if (epilogue.activation.clamps) {
      const V low = hn::Set(d, epilogue.activation.low);
      MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] =
          hn::Max(low, sum[i][j]);
      if (epilogue.activation.high == std::numeric_limits<float>::infinity()) return;
      const V high = hn::Set(d, epilogue.activation.high);
      MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] =
          hn::Min(high, sum[i][j]);
    }
  }

  HWY_INLINE void store(float* c, int64_t ldc, int64_t tail) const {
    const D d;
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      MAX_UNROLL for (int j = 0; j + 1 < kVectors; ++j) hn::StoreU(sum[i][j], d, c + i * ldc + j * kLanes);
      storeFirst(d, sum[i][kVectors - 1], c + i * ldc + (kVectors - 1) * kLanes, tail);
    }
  }
};

void applyFunction(const Activation& activation, float* c, int64_t ldc, int64_t rows, int64_t columns) {
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

// From sums to C.
template <int kRows, int kVectors>
HWY_INLINE void complete(Tile<kRows, kVectors>& tile, const GemmTile& t) {
  const int64_t tail = t.columns - (kVectors - 1) * kLanes;
  if (t.accumulate) tile.combine(t.c, t.ldc, tail, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
  if (t.finish) tile.finish(t, tail);
  tile.store(t.c, t.ldc, tail);
  if (t.finish && t.epilogue->activation.function) applyFunction(t.epilogue->activation, t.c, t.ldc, kRows, t.columns);
}

template <int kRows, int kVectors>
void runTile(const GemmTile& t) {
  Tile<kRows, kVectors> tile;
  tile.multiply(t);
  complete(tile, t);
}

constexpr int64_t kNewPage = 1 << 18;  // steps that a huge page takes (base/interrupt_point.h)

// Copies up to one panel's columns of one row; the rest is zero.
HWY_INLINE void copyRow(const float* from, int64_t count, int64_t width, float* to) {
  const D d;
  int64_t n = 0;
  for (; n + kLanes <= count; n += kLanes) hn::StoreU(hn::LoadU(d, from + n), d, to + n);
  for (; n < width; n += kLanes) hn::StoreU(loadFirst(d, from + n, std::max<int64_t>(count - n, 0)), d, to + n);
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

// Four columns of B, which are not contiguous, and four rows, which are.
HWY_INLINE void transposeFour(const float* from, int64_t columnStride, float* const (&to)[4]) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t n = 0; n < 4; ++n)
    for (int64_t k = 0; k < 4; ++k) to[k][n] = from[n * columnStride + k];
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + columnStride);
  const auto r2 = hn::LoadU(d, from + 2 * columnStride), r3 = hn::LoadU(d, from + 3 * columnStride);
  const auto low01 = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, low01, low23)), d, to[0]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, low01, low23)), d, to[1]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, high01, high23)), d, to[2]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, high01, high23)), d, to[3]);
#endif
}

// Columns [first, first + width) of B into their panel at `to`; rows [begin, end) of the source.
void packPanelOfColumns(const PackSource& source, int64_t begin, int64_t end, int64_t first, int64_t width, float* to) {
  const int64_t count = std::min(width, source.columns - first);
  const float* from = source.data + first * source.columnStride;
  const auto element = [&](int64_t k, int64_t n)
                           HWY_ATTR { return n < count ? from[k * source.rowStride + n * source.columnStride] : 0.f; };
  WorkCounter work;
  int64_t k = begin;
  for (; source.rowStride == 1 && k + 4 <= end; k += 4, work.pass(width)) {
    float* row[4];
    for (int i = 0; i < 4; ++i) row[i] = to + packedRow(source, k + i) * width;
    int64_t n = 0;
    for (; n + 4 <= count; n += 4, row[0] += 4, row[1] += 4, row[2] += 4, row[3] += 4)
      transposeFour(from + n * source.columnStride + k, source.columnStride, row);
    for (; n < width; ++n)
      for (int i = 0; i < 4; ++i) *row[i]++ = element(k + i, n);
  }
  for (; k < end; ++k, work.pass(width))
    for (int64_t n = 0; n < width; ++n) to[packedRow(source, k) * width + n] = element(k, n);
}

void pack(const PackSource& source, int64_t begin, int64_t end, float* packed) {
  if (source.columnStride == 1 && source.taps == 1) return packRows(source, begin, end, packed);
  const Panels panels(kLanes, kPanelVectors, source.columns);
  WorkCounter work;
  for (int64_t panel = 0; panel < panels.count; ++panel, work.pass(16 + (end - begin) * panels.width(panel)))
    packPanelOfColumns(source, begin, end, panels.begin(panel), panels.width(panel),
                       packed + panels.begin(panel) * source.rows());
}

template <int kColumns>
HWY_INLINE void dotColumns(const float* a, const float* b, int64_t ldb, int64_t depth, float* out) {
  const D d;
  V sum[kColumns];
  MAX_UNROLL for (int j = 0; j < kColumns; ++j) sum[j] = hn::Zero(d);
  int64_t k = 0;
  for (int64_t last = depth < kStepsPerLook ? depth : kStepsPerLook;;) {
    for (; k + kLanes <= last; k += kLanes) {
      const V value = hn::LoadU(d, a + k);
      MAX_UNROLL for (int j = 0; j < kColumns; ++j) sum[j] = hn::MulAdd(value, hn::LoadU(d, b + j * ldb + k), sum[j]);
    }
    if (last == depth) break;
    passWork(kStepsPerLook);
    last = depth - last < kStepsPerLook ? depth : last + kStepsPerLook;
  }
  if (k < depth) {
    const V value = loadFirst(d, a + k, depth - k);
    MAX_UNROLL for (int j = 0; j < kColumns; ++j) sum[j] =
        hn::MulAdd(value, loadFirst(d, b + j * ldb + k, depth - k), sum[j]);
  }
  MAX_UNROLL for (int j = 0; j < kColumns; ++j) out[j] = sumOf(d, sum[j]);
}

void dot(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out) {
  WorkCounter work;
  int64_t n = 0;
  for (; n + 4 <= columns; n += 4, work.pass(depth)) dotColumns<4>(a, b + n * ldb, ldb, depth, out + n);
  for (; n < columns; ++n, work.pass(depth)) dotColumns<1>(a, b + n * ldb, ldb, depth, out + n);
}

template <int kRows>
constexpr void setTiles(GemmTable& table) {
  table.tiles[kRows - 1][0] = runTile<kRows, 1>;
  table.tiles[kRows - 1][1] = runTile<kRows, 2>;
  if constexpr (kPanelVectors > 2) table.tiles[kRows - 1][2] = runTile<kRows, 3>;
  if constexpr (kRows > 1) setTiles<kRows - 1>(table);
}

constexpr GemmTable makeTable() {
  GemmTable table{kLanes, kTileRows, kPanelVectors, kKBlock, 1, {}, pack, dot, nullptr, nullptr, nullptr};
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

const GemmTable* bfloat16GemmTable() {
#if HWY_TARGETS & HWY_AVX3
  if (cpuTarget() >= CpuTarget::Avx512Bf16) return &N_AVX3::kBFloat16GemmTable;
#endif
  return nullptr;
}

}  // namespace max
#endif
