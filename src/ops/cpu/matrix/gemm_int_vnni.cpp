// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of integer products with AVX-512 VNNI: words of four bytes.
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include <immintrin.h>

#define MAX_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace max {

namespace {

constexpr int kTileRows = 8, kVectors = 3, kLanes = 16;

// Subtracts the zero points from the sums of row i and stores them.
MAX_VNNI void finishRow(const IntegerTile& t, int i, const int32_t* sums) {
  for (int j = 0; j < kVectors; ++j) {
    const int64_t left = t.columns - j * kLanes;
    const auto mask = static_cast<__mmask16>(left >= kLanes ? 0xffff : left <= 0 ? 0 : (1 << left) - 1);
    const __m512i columnSums = _mm512_loadu_si512(t.columnSums + j * kLanes);
    __m512i value = _mm512_load_si512(sums + j * kLanes);
    value = _mm512_add_epi32(value, _mm512_mullo_epi32(_mm512_set1_epi32(t.rowFactors[i]), columnSums));
    if (t.columnFactors) {
      const __m512i factors = _mm512_loadu_si512(t.columnFactors + j * kLanes);
      value = _mm512_add_epi32(value, _mm512_mullo_epi32(_mm512_set1_epi32(t.rowSums[i]), factors));
    }
    _mm512_mask_storeu_epi32(t.c + i * t.ldc + j * kLanes, mask, value);
  }
}

template <int kRows>
MAX_VNNI void tile(const IntegerTile& t) {
  __m512i sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_setzero_si512();
  const int32_t* b = t.b;
  for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes) {
    __m512i columns[kVectors];
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) columns[j] = _mm512_loadu_si512(b + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const __m512i value = _mm512_set1_epi32(t.a[i * t.lda + k]);
#pragma GCC unroll 16
      for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_dpbusd_epi32(sum[i][j], value, columns[j]);
    }
  }
  alignas(64) int32_t sums[kRows][kVectors * kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) _mm512_store_si512(sums[i] + j * kLanes, sum[i][j]);
  for (int i = 0; i < kRows; ++i) finishRow(t, i, sums[i]);
}

}  // namespace

const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable& base) {
  if (cpuTarget() < CpuTarget::Avx512Bf16) return nullptr;  // which includes VNNI
  static const IntegerGemmTable table = {true,
                                         kTileRows,
                                         kVectors * kLanes,
                                         {tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>, tile<7>, tile<8>},
                                         base.requantize};
  return &table;
}

}  // namespace max

#else

namespace max {

const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable&) { return nullptr; }

}  // namespace max

#endif
