// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of integer products per target: multiply and add pairs of int16.
#include "ops/cpu/matrix/gemm_int.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/gemm_int_simd.cpp"
#include "ops/cpu/dispatch.h"

#ifndef MAX_UNROLL
#define MAX_UNROLL _Pragma("GCC unroll 16")
#endif

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

// sum + a.low * b.low + a.high * b.high of every pair.
HWY_INLINE V32 multiplyPairs(V32 a, V32 b, V32 sum) {
#if HWY_TARGET == HWY_SCALAR
  const auto x = static_cast<uint32_t>(hn::GetLane(a)), y = static_cast<uint32_t>(hn::GetLane(b));
  const auto part = [](uint32_t word) { return static_cast<int32_t>(static_cast<int16_t>(word)); };
  const int32_t products = part(x) * part(y) + part(x >> 16) * part(y >> 16);
  return hn::Set(D32(),
                 static_cast<int32_t>(static_cast<uint32_t>(hn::GetLane(sum)) + static_cast<uint32_t>(products)));
#else
  const hn::Repartition<int16_t, D32> d16;
  V32 unused = hn::Zero(D32());
  return hn::ReorderWidenMulAccumulate(D32(), hn::BitCast(d16, a), hn::BitCast(d16, b), sum, unused);
#endif
}

template <int kRows>
void tile(const IntegerTile& t) {
  const D32 d;
  V32 sum[kRows][kVectors];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  const int32_t* b = t.b;
  for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes) {
    V32 columns[kVectors];
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) columns[j] = hn::LoadU(d, b + j * kLanes);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      const V32 value = hn::Set(d, t.a[i * t.lda + k]);
      MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = multiplyPairs(value, columns[j], sum[i][j]);
    }
  }
  HWY_ALIGN int32_t sums[kRows][kVectors * kLanes];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j)
      hn::Store(sum[i][j], d, sums[i] + j * kLanes);
  for (int i = 0; i < kRows; ++i)
    for (int64_t n = 0; n < t.columns; ++n) t.c[i * t.ldc + n] = sums[i][n];
}

HWY_INLINE V32 requantizedVector(V32 sums, const float* factors, const Requantization& how) {
  const D32 d;
  const hn::Rebind<float, D32> df;
  constexpr float kFar = 1 << 20;  // far out of range, but still an integer
  auto x = hn::Mul(hn::ConvertTo(df, sums), hn::LoadU(df, factors));
  x = hn::Min(hn::Max(x, hn::Set(df, -kFar)), hn::Set(df, kFar));
  const V32 y = hn::Add(hn::NearestInt(x), hn::Set(d, how.zero));
  return hn::Min(hn::Max(y, hn::Set(d, how.low)), hn::Set(d, how.high));
}

void requantize(const int32_t* sums, int64_t count, const Requantization& how, uint8_t* out) {
  const D32 d;
  HWY_ALIGN int32_t in[kLanes], result[kLanes];
  HWY_ALIGN float factors[kLanes];
  for (int64_t n = 0; n < count; n += kLanes) {
    const int64_t part = count - n < kLanes ? count - n : kLanes;
    if (part < kLanes) {
      for (int64_t i = 0; i < kLanes; ++i) in[i] = i < part ? sums[n + i] : 0;
      for (int64_t i = 0; i < kLanes; ++i) factors[i] = i < part ? how.factors[n + i] : 0;
    }
    const V32 y = part < kLanes ? requantizedVector(hn::Load(d, in), factors, how)
                                : requantizedVector(hn::LoadU(d, sums + n), how.factors + n, how);
    hn::Store(y, d, result);
    for (int64_t i = 0; i < part; ++i) out[n + i] = static_cast<uint8_t>(result[i]);
  }
}

#if HWY_TARGET == HWY_AVX3
#define MAX_INTEGER_TILES \
  { tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>, tile<7>, tile<8> }
#else
#define MAX_INTEGER_TILES \
  { tile<1>, tile<2>, tile<3>, tile<4> }
#endif

}  // namespace

extern const IntegerGemmTable kIntegerGemmTable;
const IntegerGemmTable kIntegerGemmTable = {false, kTileRows, kVectors* static_cast<int>(kLanes), MAX_INTEGER_TILES,
                                            requantize};
#undef MAX_INTEGER_TILES

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const IntegerGemmTable& integerGemmTable() {
  const IntegerGemmTable& table = MAX_CHOOSE_TARGET(kIntegerGemmTable);
  const IntegerGemmTable* bytes = vnniGemmTable(table);
  return bytes ? *bytes : table;
}
}  // namespace max
#endif
