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
  const float* const* rows = t.rows;
  for (int64_t tap = 0; tap < t.taps; ++tap, rows += kTileRows) {
    if (!rows[0]) {
      b += t.depth * kVectors * kLanes;
      ahead += t.depth * t.aheadStep;
      continue;
    }
    const float* a[kRows];
    MAX_UNROLL for (int i = 0; i < kRows; ++i) a[i] = rows[i] + t.rowOffset;
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
}

MAX_BF16 HWY_INLINE __mmask16 firstElements(int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : (1 << count) - 1);
}

MAX_BF16 void narrow(const float* from, int64_t count, uint16_t* to) {
  int64_t k = 0;
  for (; k + 2 * kLanes <= count; k += 2 * kLanes) {
    const __m512 low = _mm512_loadu_ps(from + k), high = _mm512_loadu_ps(from + k + kLanes);
    _mm512_storeu_si512(to + k, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  for (; k < count; k += kLanes) {
    const __mmask16 mask = firstElements(count - k);
    const __m256bh part = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from + k));
    _mm256_mask_storeu_epi16(to + k, mask, reinterpret_cast<__m256i>(part));
  }
}

template <int kRows, int kVectors>
MAX_BF16 HWY_INLINE void addNarrowResidual(Tile<kRows, kVectors>& tile, const GemmTile& t, int64_t tail) {
  const uint16_t* from = t.narrowResidual;
  MAX_UNROLL for (int i = 0; i < kRows; ++i, from += t.ldr) {
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
      const __mmask16 mask = firstElements(j + 1 < kVectors ? kLanes : tail);
      const __m256i half = _mm256_maskz_loadu_epi16(mask, from + j * kLanes);
      const __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
      tile.sum[i][j].raw = _mm512_add_ps(tile.sum[i][j].raw, _mm512_castsi512_ps(wide));
    }
  }
}

template <int kRows, int kVectors>
MAX_BF16 HWY_INLINE void storeNarrow(const Tile<kRows, kVectors>& tile, const GemmTile& t, int64_t tail) {
  uint16_t* to = t.narrow;
  MAX_UNROLL for (int i = 0; i < kRows; ++i, to += t.ldn) {
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
      const auto half = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(tile.sum[i][j].raw));
      auto* place = reinterpret_cast<__m256i*>(to + j * kLanes);
      // Masked stores are slow.
      if (j + 1 < kVectors || tail >= kLanes)
        _mm256_storeu_si256(place, half);
      else
        _mm256_mask_storeu_epi16(place, firstElements(tail), half);
    }
  }
}

template <int kRows, int kVectors>
MAX_BF16 HWY_INLINE void completeWords(Tile<kRows, kVectors>& tile, const GemmTile& t) {
  const int64_t tail = tile.tailOf(t);
  const Activation& activation = t.epilogue->activation;
  if (t.accumulate) tile.add(t.c, t.ldc, tail);
  if (t.finish) {
    tile.scaleAndAdd(t, tail);
    if (t.narrowResidual) addNarrowResidual(tile, t, tail);
    tile.clamp(activation);
    if (t.narrow && !activation.function) return storeNarrow(tile, t, tail);
  }
  tile.store(t.c, t.ldc, tail);
  if (!t.finish || !activation.function) return;
  applyFunction(activation, t.c, t.ldc, kRows, t.columns);
  for (int64_t i = 0; i < kRows && t.narrow; ++i) narrow(t.c + i * t.ldc, t.columns, t.narrow + i * t.ldn);
}

// Rows of results and residuals are far from each other, so that the chip does not see them coming. (Floats are mostly
// written to memory that is in a cache.)
template <int kRows, int kVectors>
HWY_INLINE void prefetchResults(const GemmTile& t) {
  constexpr int kLine = 32;  // elements
  MAX_UNROLL for (int i = 0; i < kRows; ++i) {
    MAX_UNROLL for (int n = 0; n < kVectors * kLanes; n += kLine) {
      __builtin_prefetch(t.narrow + i * t.ldn + n, 1, 3);
      if (t.narrowResidual) __builtin_prefetch(t.narrowResidual + i * t.ldr + n, 0, 3);
    }
  }
}

template <int kRows, int kVectors>
MAX_BF16 void runWordTile(const GemmTile& t) {
  if (t.finish && t.narrow) prefetchResults<kRows, kVectors>(t);
  Tile<kRows, kVectors> tile;
  tile.start(t);
  multiplyWords(tile, t);
  completeWords(tile, t);
}

MAX_BF16 void spread(const float* from, int64_t pixels, int64_t channels, uint16_t* to) {
  if (channels % 2 == 0) return narrow(from, pixels * channels, to);
  const int64_t wide = channels + 1, most = kLanes / wide;
  __mmask16 places = 0;
  for (int64_t i = 0; i < most; ++i) places = static_cast<__mmask16>(places | firstElements(channels) << (i * wide));
  for (int64_t some; pixels > 0; pixels -= some, from += some * channels, to += some * wide) {
    some = std::min(most, pixels);
    const __m512 values = _mm512_maskz_loadu_ps(firstElements(some * channels), from);
    const auto halves = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_expand_ps(places, values)));
    if (some * wide == kLanes)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
    else
      _mm256_mask_storeu_epi16(to, firstElements(some * wide), halves);
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

MAX_BF16 void pairNarrow(const uint16_t* first, const uint16_t* second, int64_t count, int64_t width, float* words) {
  for (int64_t n = 0; n < width; n += kLanes) {
    const __mmask16 mask = firstElements(std::max<int64_t>(count - n, 0));
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, first + n));
    const __m256i next = second ? _mm256_maskz_loadu_epi16(mask, second + n) : _mm256_setzero_si256();
    _mm512_storeu_si512(words + n, _mm512_or_si512(low, _mm512_slli_epi32(_mm512_cvtepu16_epi32(next), 16)));
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
  table.spread = spread;
  table.pair = pair;
  table.pairNarrow = pairNarrow;
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
