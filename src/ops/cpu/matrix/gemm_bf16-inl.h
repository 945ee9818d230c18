// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of bfloat16 products with AVX-512 BF16: words of two elements, sums in float32. The end of
// gemm_simd.cpp, whose tiles do the rest.
#if HWY_TARGET == HWY_AVX3

#include <immintrin.h>

#define MAX_BF16 __attribute__((target(HWY_TARGET_STR ",avx512bf16")))

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace {

// Moves bits only, whatever the words would be as floats.
MAX_BF16 HWY_INLINE __m512bh wordsAt(const float* p) { return reinterpret_cast<__m512bh>(_mm512_loadu_ps(p)); }
MAX_BF16 HWY_INLINE __m512bh everyWord(const float* p) { return reinterpret_cast<__m512bh>(_mm512_set1_ps(*p)); }

template <int kRows, int kVectors>
MAX_BF16 HWY_INLINE void multiplyWords(Tile<kRows, kVectors>& tile, const GemmTile& t) {
  const float* b = t.b;
  const float* ahead = t.ahead;
  const float* a[kRows];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) a[i] = t.rows[i] + t.rowOffset;
  for (int64_t k = 0; k < t.depth; ++k, b += kVectors * kLanes, ahead += t.aheadStep) {
    __builtin_prefetch(ahead, 0, 2);
    __m512bh columns[kVectors];
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
      __builtin_prefetch(b + kPrefetch + j * kLanes, 0, 3);
      columns[j] = wordsAt(b + j * kLanes);
    }
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      const __m512bh value = everyWord(a[i] + k);
      MAX_UNROLL for (int j = 0; j < kVectors; ++j) tile.sum[i][j].raw =
          _mm512_dpbf16_ps(tile.sum[i][j].raw, value, columns[j]);
    }
  }
}

template <int kRows, int kVectors>
MAX_BF16 void runWordTile(const GemmTile& t) {
  Tile<kRows, kVectors> tile;
  tile.start(t);
  if (t.taps > 0) multiplyWords(tile, t);
  complete(tile, t);
}

MAX_BF16 void narrow(const float* from, int64_t count, uint16_t* to) {
  int64_t k = 0;
  for (; k + 2 * kLanes <= count; k += 2 * kLanes) {
    const __m512 low = _mm512_loadu_ps(from + k), high = _mm512_loadu_ps(from + k + kLanes);
    _mm512_storeu_si512(to + k, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  for (; k < count; k += kLanes) {
    const auto mask = static_cast<__mmask16>(count - k >= kLanes ? 0xffff : (1 << (count - k)) - 1);
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

template <int kRows, int kVectors = kPanelVectors>
constexpr void setWordTiles(GemmTable& table) {
  table.tiles[kRows - 1][2 * kVectors - 2] = table.tiles[kRows - 1][2 * kVectors - 1] = runWordTile<kRows, kVectors>;
  if constexpr (kVectors > 1) setWordTiles<kRows, kVectors - 1>(table);
  if constexpr (kVectors == 1 && kRows > 1) setWordTiles<kRows - 1>(table);
}

constexpr GemmTable makeWordTable() {
  GemmTable table = makeTable();
  table.wordElements = 2;
  table.floats = &kGemmTable;
  table.narrow = narrow;
  table.pair = pair;
  setWordTiles<kTileRows>(table);
  return table;
}

}  // namespace

extern const GemmTable kBFloat16GemmTable;
constexpr GemmTable kBFloat16GemmTable = makeWordTable();

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef MAX_BF16

#endif
