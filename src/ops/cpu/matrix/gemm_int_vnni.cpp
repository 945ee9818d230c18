// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of integer products with AVX-512 VNNI: words of four bytes.
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include "ops/cpu/matrix/requantize_vnni.h"

namespace max {

namespace {

constexpr int kTileRows = 7, kVectors = 4, kLanes = 16;
// Words of B that are prefetched into the first cache. A single row waits for nothing but memory, which is further
// away.
template <int kRows>
constexpr int64_t kDistance = (kRows == 1 ? 32 : 8) * kVectors* kLanes;

// Adds what column factors make of the sum of row i of A.
template <int kUsed>
MAX_VNNI inline void addRowSum(const IntegerTile& t, int i, __m512i (&sums)[kUsed]) {
  if (!t.columnFactors) return;
  const __m512i rowSum = _mm512_set1_epi32(t.rowSums[i]);
#pragma GCC unroll 4
  for (int j = 0; j < kUsed; ++j)
    sums[j] = _mm512_add_epi32(sums[j], _mm512_mullo_epi32(rowSum, _mm512_loadu_si512(t.columnFactors + j * kLanes)));
}

// Subtracts the zero points from the sums of row i and stores them.
template <int kUsed>
MAX_VNNI inline void finishRow(const IntegerTile& t, int i, __m512i (&sums)[kUsed]) {
  addRowSum<kUsed>(t, i, sums);
#pragma GCC unroll 4
  for (int j = 0; j < kUsed; ++j) {
    __m512i value = sums[j];
    if (t.rowFactors) {
      const __m512i columnSums = _mm512_loadu_si512(t.columnSums + j * kLanes);
      value = _mm512_add_epi32(value, _mm512_mullo_epi32(_mm512_set1_epi32(t.rowFactors[i]), columnSums));
    }
    int32_t* c = t.c + i * t.ldc + j * kLanes;
    const int64_t left = t.columns - j * kLanes;
    if (left >= kLanes)
      _mm512_storeu_si512(c, value);
    else
      _mm512_mask_storeu_epi32(c, static_cast<__mmask16>((1 << left) - 1), value);
  }
}

// The sums of row i, which include the bias, to 8-bit numbers, without leaving registers.
template <int kUsed>
MAX_VNNI inline void requantizeRow(const IntegerTile& t, const RequantizationVectors& how, int i,
                                   __m512i (&sums)[kUsed]) {
  addRowSum<kUsed>(t, i, sums);
  __m512i result[4] = {};
  if (t.other) {
    const uint8_t* other = t.other + i * t.outStride;
    how.sum<kUsed>(
        sums, 0, [&](int j) MAX_VNNI { return loadFirst(other + j * kLanes, t.columns - j * kLanes); }, result);
  } else if (how.addends) {
    how.sum<kUsed>(sums, 0, result);
  } else {
    how.round<kUsed>(sums, 0, result);
  }
  // Packing interleaves quarters of the vectors.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  storeFirst(_mm512_permutexvar_epi32(order, how.packed(result)), t.columns, t.out + i * t.outStride);
}

// The sums of row i, which include the bias, to real numbers.
template <int kUsed>
MAX_VNNI inline void scaleRow(const IntegerTile& t, int i, __m512i (&sums)[kUsed]) {
  addRowSum<kUsed>(t, i, sums);
#pragma GCC unroll 4
  for (int j = 0; j < kUsed; ++j) {
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[j]), _mm512_loadu_ps(t.how->factors + j * kLanes));
    if (t.how->addends) x = _mm512_add_ps(x, _mm512_loadu_ps(t.how->addends + j * kLanes));
    float* out = t.reals + i * t.outStride + j * kLanes;
    const int64_t left = t.columns - j * kLanes;
    if (left >= kLanes)
      _mm512_storeu_ps(out, x);
    else
      _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1 << left) - 1), x);
  }
}

// sum + value * the words at b, which are read from memory each time: with all sums of the largest tile in registers,
// there is none left for its last column of words.
MAX_VNNI inline __m512i addProducts(__m512i sum, __m512i value, const int32_t* b) {
  struct Words {
    int32_t words[kLanes];
  };
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(value), "m"(*reinterpret_cast<const Words*>(b)));
  return sum;
}

// The first kUsed vectors of the panel.
template <int kRows, int kUsed>
MAX_VNNI void tile(const IntegerTile& t) {
  constexpr int kKept = kRows * kUsed + kUsed < 32 ? kUsed : kUsed - 1;  // of 32 registers, one is for A
  __m512i sum[kRows][kUsed];
#pragma GCC unroll 16
  for (int j = 0; j < kUsed; ++j) {
    const int32_t* bias = t.how ? t.how->bias : nullptr;
    sum[0][j] = bias ? _mm512_loadu_si512(bias + j * kLanes) : _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int i = 1; i < kRows; ++i) sum[i][j] = sum[0][j];
  }
  const int32_t* b = t.b;
  const int32_t* ahead = t.ahead ? t.ahead : b;
  for (int64_t piece = 0; piece < t.pieces; ++piece) {
    const uint8_t* rows[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) rows[i] = t.rows[piece * t.pieceStride + i];
    for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes, ahead += t.aheadStep) {
      __builtin_prefetch(ahead, 0, 2);
      __m512i columns[kKept];
#pragma GCC unroll 16
      for (int j = 0; j < kUsed; ++j) {
        __builtin_prefetch(b + kDistance<kRows> + j * kLanes, 0, 3);
        if (j < kKept) columns[j] = _mm512_loadu_si512(b + j * kLanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        int32_t word;
        __builtin_memcpy(&word, rows[i] + 4 * k, 4);
        const __m512i value = _mm512_set1_epi32(word);
#pragma GCC unroll 16
        for (int j = 0; j < kKept; ++j) sum[i][j] = _mm512_dpbusd_epi32(sum[i][j], value, columns[j]);
        if constexpr (kKept < kUsed) sum[i][kKept] = addProducts(sum[i][kKept], value, b + kKept * kLanes);
      }
    }
  }
  if (t.sums) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kUsed; ++j)
        sum[i][j] = _mm512_add_epi32(sum[i][j], _mm512_loadu_si512(t.sums + (i * kVectors + j) * kLanes));
  }
  if (t.reals) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) scaleRow<kUsed>(t, i, sum[i]);
    return;
  }
  if (t.how) {
    const RequantizationVectors how(*t.how);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) requantizeRow<kUsed>(t, how, i, sum[i]);
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) finishRow<kUsed>(t, i, sum[i]);
}

template <int kUsed>
constexpr std::array<IntegerTileFunction, kMaxIntegerTileRows> tilesOf() {
  return {tile<1, kUsed>, tile<2, kUsed>, tile<3, kUsed>, tile<4, kUsed>,
          tile<5, kUsed>, tile<6, kUsed>, tile<7, kUsed>};
}

}  // namespace

const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable& base) {
  if (cpuTarget() < CpuTarget::Avx512Vnni) return nullptr;
  static const IntegerGemmTable table = {
      true,           kTileRows, kVectors * kLanes, kLanes, {tilesOf<1>(), tilesOf<2>(), tilesOf<3>(), tilesOf<4>()},
      base.requantize};
  return &table;
}

}  // namespace max

#else

namespace max {

const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable&) { return nullptr; }

}  // namespace max

#endif
