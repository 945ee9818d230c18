// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of integer products per target: multiply and add pairs of int16.
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/matrix/tile_tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/gemm_int_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/matrix/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;

constexpr int64_t kLanes = hn::MaxLanes(D32());
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 8, kVectors = 3;
#else
constexpr int kTileRows = 4, kVectors = 2;
#endif

void requantize(const int32_t* sums, int64_t count, const Requantization& how, const uint8_t* other, uint8_t* out);

void scaleRow(const int32_t* sums, int64_t count, const Requantization& how, float* out) {
  for (int64_t n = 0; n < count; ++n) {
    const uint32_t sum = static_cast<uint32_t>(sums[n]) + (how.bias ? static_cast<uint32_t>(how.bias[n]) : 0);
    const float product = static_cast<float>(static_cast<int32_t>(sum)) * how.factors[n];
    out[n] = how.addends ? product + how.addends[n] : product;
  }
}

void requantizeRows(const IntegerTile& t, int64_t rows) {
  if (t.reals) {
    for (int64_t i = 0; i < rows; ++i) scaleRow(t.c + i * t.ldc, t.columns, *t.how, t.reals + i * t.outStride);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const uint8_t* other = t.other ? t.other + i * t.outStride : nullptr;
    requantize(t.c + i * t.ldc, t.columns, *t.how, other, t.out + i * t.outStride);
  }
}

// The first kUsed vectors of the panel.
template <int kRows, int kUsed>
void tile(const IntegerTile& t) {
  const D32 d;
  V32 sum[kRows][kUsed];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kUsed; ++j) sum[i][j] = hn::Zero(d);
  const int32_t* b = t.b;
  for (int64_t piece = 0; piece < t.pieces; ++piece) {
    const uint8_t* const* rows = t.rows + piece * t.pieceStride;
    for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes) {
      V32 columns[kUsed];
      MAX_UNROLL for (int j = 0; j < kUsed; ++j) columns[j] = hn::LoadU(d, b + j * kLanes);
      MAX_UNROLL for (int i = 0; i < kRows; ++i) {
        int32_t word;
        __builtin_memcpy(&word, rows[i] + 4 * k, 4);
        const V32 value = hn::Set(d, word);
        MAX_UNROLL for (int j = 0; j < kUsed; ++j) sum[i][j] = multiplyPairs(value, columns[j], sum[i][j]);
      }
    }
  }
  HWY_ALIGN int32_t sums[kRows][kUsed * kLanes];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kUsed; ++j)
      hn::Store(sum[i][j], d, sums[i] + j * kLanes);
  for (int i = 0; i < kRows; ++i)
    for (int64_t n = 0; n < t.columns; ++n) t.c[i * t.ldc + n] = sums[i][n];
  if (t.how) requantizeRows(t, kRows);
}

using DF = hn::Rebind<float, D32>;
using D8 = hn::Rebind<uint8_t, D32>;

// round(x) + zero, between low and high. NaN becomes the lower end: the second operand of Max is taken then.
HWY_INLINE V32 rounded(hn::Vec<DF> x, int32_t zero, int32_t low, int32_t high) {
  const DF df;
  x = hn::Max(x, hn::Set(df, static_cast<float>(low - zero)));
  x = hn::Min(x, hn::Set(df, static_cast<float>(high - zero)));
  return hn::Add(hn::NearestInt(x), hn::Set(D32(), zero));
}

// `other`: numbers of 8 bits, or NULL if those of columns, from `n` on, are added.
HWY_INLINE V32 sumVector(V32 q, int32_t zero, const RequantizedSum& how, const uint8_t* other, int64_t n) {
  const D32 d;
  const DF df;
  const auto own = hn::Mul(hn::ConvertTo(df, hn::Sub(q, hn::Set(d, zero))), hn::Set(df, how.ownFactor));
  if (how.addends) return rounded(hn::Add(own, hn::LoadU(df, how.addends + n)), how.sumZero, how.low, how.high);
  // The numbers of the other operand as int8 or uint8.
  const int32_t flip = how.otherIsSigned ? 128 : 0;
  const V32 code = hn::Xor(hn::PromoteTo(d, hn::LoadU(D8(), other)), hn::Set(d, flip));
  const auto real =
      hn::Mul(hn::ConvertTo(df, hn::Sub(code, hn::Set(d, how.otherZero + flip))), hn::Set(df, how.otherFactor));
  return rounded(hn::Add(own, real), how.sumZero, how.low, how.high);
}

// kPart: only `part` elements of `out` and of the other operand exist.
template <bool kPart>
HWY_INLINE void requantizeVector(const int32_t* sums, int64_t n, int64_t part, const Requantization& how,
                                 const uint8_t* other, uint8_t* out) {
  const D32 d;
  const DF df;
  const auto copy = [](const uint8_t* from, int64_t count, uint8_t* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  };
  V32 sum = hn::LoadU(d, sums + n);
  if (how.bias) sum = hn::Add(sum, hn::LoadU(d, how.bias + n));
  V32 y = rounded(hn::Mul(hn::ConvertTo(df, sum), hn::LoadU(df, how.factors + n)), how.zero, how.low, how.high);
  HWY_ALIGN uint8_t bytes[kLanes] = {};
  if (how.sum) {
    if (kPart && other) copy(other + n, part, bytes);
    y = sumVector(y, how.zero, *how.sum, kPart || !other ? bytes : other + n, n);
  }
  const hn::RebindToUnsigned<D32> du;
  const auto result = hn::U8FromU32(hn::And(hn::BitCast(du, y), hn::Set(du, 255)));
  hn::StoreU(result, D8(), kPart ? bytes : out + n);
  if (kPart) copy(bytes, part, out + n);
}

void requantize(const int32_t* sums, int64_t count, const Requantization& how, const uint8_t* other, uint8_t* out) {
  int64_t n = 0;
  for (; n + kLanes <= count; n += kLanes) requantizeVector<false>(sums, n, kLanes, how, other, out);
  if (n < count) requantizeVector<true>(sums, n, count - n, how, other, out);
}

template <int kUsed>
constexpr std::array<IntegerTileFunction, kMaxIntegerTileRows> tilesOf() {
#if HWY_TARGET == HWY_AVX3
  return {tile<1, kUsed>, tile<2, kUsed>, tile<3, kUsed>, tile<4, kUsed>,
          tile<5, kUsed>, tile<6, kUsed>, tile<7, kUsed>, tile<8, kUsed>};
#else
  return {tile<1, kUsed>, tile<2, kUsed>, tile<3, kUsed>, tile<4, kUsed>};
#endif
}

}  // namespace

extern const IntegerGemmTable kIntegerGemmTable;
const IntegerGemmTable kIntegerGemmTable = {false,
                                            kTileRows,
                                            kVectors* static_cast<int>(kLanes),
                                            static_cast<int>(kLanes),
                                            {tilesOf<1>(), tilesOf<2>(),
#if HWY_TARGET == HWY_AVX3
                                             tilesOf<3>()
#endif
                                            },
                                            requantize};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const IntegerGemmTable& integerGemmTable() {
  if (const TileTables* tiles = tileTables()) return *tiles->bytes;
  return integerVectorTable();
}
const IntegerGemmTable& integerVectorTable() {
  const IntegerGemmTable& table = MAX_CHOOSE_TARGET(kIntegerGemmTable);
  const IntegerGemmTable* bytes = vnniGemmTable(table);
  return bytes ? *bytes : table;
}
}  // namespace max
#endif
