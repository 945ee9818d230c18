// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of bfloat16 products with AVX-512 BF16: words of two elements, sums in float32.
#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include <immintrin.h>

#define MAX_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace max {

namespace {

constexpr int kTileRows = 8, kVectors = 3, kLanes = 16;
constexpr int64_t kPrefetch = 512;  // words of B that are prefetched into the first cache

// Moves bits only, whatever the words would be as floats.
MAX_BF16 inline __m512bh wordsAt(const float* p) { return reinterpret_cast<__m512bh>(_mm512_loadu_ps(p)); }
MAX_BF16 inline __m512bh everyWord(const float* p) { return reinterpret_cast<__m512bh>(_mm512_set1_ps(*p)); }

MAX_BF16 inline __mmask16 firstLanes(int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : (1 << count) - 1);
}

template <int kRows, int kColumns>
struct Sums {
  __m512 sum[kRows][kColumns];
  __mmask16 tail;  // of the last vector of a row

  MAX_BF16 inline void start(const GemmTile& t) {
    tail = firstLanes(t.columns - (kColumns - 1) * kLanes);
    const bool startsWithBias = t.bias && !t.accumulate && t.epilogue->alpha == 1;
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j)
      sum[0][j] = startsWithBias ? _mm512_maskz_loadu_ps(maskOf(j), t.bias + j * kLanes) : _mm512_setzero_ps();
#pragma GCC unroll 16
    for (int i = 1; i < kRows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j) sum[i][j] = sum[0][j];
  }
  MAX_BF16 inline __mmask16 maskOf(int j) const { return j + 1 < kColumns ? static_cast<__mmask16>(0xffff) : tail; }

  MAX_BF16 inline void multiply(const GemmTile& t) {
    const float* b = t.b;
    const float* ahead = t.ahead;
    const float* a[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) a[i] = t.rows[i] + t.rowOffset;
    for (int64_t k = 0; k < t.depth; ++k, b += kColumns * kLanes, ahead += t.aheadStep) {
      __builtin_prefetch(ahead, 0, 2);
      __m512bh columns[kColumns];
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j) {
        __builtin_prefetch(b + kPrefetch + j * kLanes, 0, 3);
        columns[j] = wordsAt(b + j * kLanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const __m512bh value = everyWord(a[i] + k);
#pragma GCC unroll 16
        for (int j = 0; j < kColumns; ++j) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], value, columns[j]);
      }
    }
  }

  MAX_BF16 inline void store(const GemmTile& t) const {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j) {
        float* to = t.c + i * t.ldc + j * kLanes;
        const __m512 before = t.accumulate ? _mm512_maskz_loadu_ps(maskOf(j), to) : _mm512_setzero_ps();
        _mm512_mask_storeu_ps(to, maskOf(j), t.accumulate ? _mm512_add_ps(sum[i][j], before) : sum[i][j]);
      }
  }
};

template <int kRows, int kColumns>
MAX_BF16 void runTile(const GemmTile& t) {
  Sums<kRows, kColumns> sums;
  sums.start(t);
  if (t.depth > 0) sums.multiply(t);
  sums.store(t);
}

MAX_BF16 void narrow(const float* from, int64_t count, uint16_t* to) {
  int64_t k = 0;
  for (; k + 2 * kLanes <= count; k += 2 * kLanes) {
    const __m512 low = _mm512_loadu_ps(from + k), high = _mm512_loadu_ps(from + k + kLanes);
    _mm512_storeu_si512(to + k, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  for (; k < count; k += kLanes) {
    const __mmask16 mask = firstLanes(count - k);
    const __m256bh part = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from + k));
    _mm256_mask_storeu_epi16(to + k, mask, reinterpret_cast<__m256i>(part));
  }
}

alignas(64) constexpr uint16_t kInterleaved[2 * kLanes] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                           21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                           11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

MAX_BF16 void pair(const float* first, const float* second, int64_t width, float* words) {
  const __m512i places = _mm512_load_si512(kInterleaved);
  for (int64_t n = 0; n < width; n += kLanes) {
    const __m512 high = second ? _mm512_loadu_ps(second + n) : _mm512_setzero_ps();
    const auto parts = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, _mm512_loadu_ps(first + n)));
    _mm512_storeu_si512(words + n, _mm512_maskz_permutexvar_epi16(~__mmask32{0}, places, parts));
  }
}

template <int kRows>
constexpr void setTiles(GemmTable& table) {
  table.tiles[kRows - 1][0] = runTile<kRows, 1>;
  table.tiles[kRows - 1][1] = runTile<kRows, 2>;
  table.tiles[kRows - 1][2] = runTile<kRows, 3>;
  if constexpr (kRows > 1) setTiles<kRows - 1>(table);
}

// `floats` has the same tiles, so that it can finish those of words.
GemmTable makeTable(const GemmTable& floats) {
  GemmTable table{kLanes, kTileRows, kVectors, floats.kBlock, 2, {}, floats.pack, nullptr, &floats, narrow, pair};
  setTiles<kTileRows>(table);
  return table;
}

}  // namespace

const GemmTable* bfloat16GemmTable() {
  const GemmTable& floats = gemmTable();
  const bool hasSameTiles = floats.lanes == kLanes && floats.tileRows == kTileRows && floats.panelVectors == kVectors;
  if (cpuTarget() < CpuTarget::Avx512Bf16 || !hasSameTiles) return nullptr;  // a build may lack AVX-512
  static const GemmTable table = makeTable(floats);
  return &table;
}

}  // namespace max

#else

namespace max {

const GemmTable* bfloat16GemmTable() { return nullptr; }

}  // namespace max

#endif
