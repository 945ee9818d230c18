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
// At any address: words of pixels of an odd number of channels begin everywhere.
template <class T>
MAX_BF16 HWY_INLINE __m512bh everyWord(const float* p) {
  T word;
  __builtin_memcpy(&word, p, sizeof(T));
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int32_t>(word)));
}

// Adds the products of one word of k to the sums `sum(row, vector)`.
template <class Word, int kRows, int kVectors, class Sums>
MAX_BF16 HWY_INLINE void multiplyWord(const float* const (&a)[kRows], int64_t k, const float* b, const Sums& sum) {
  __m512bh columns[kVectors];
  MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
    if constexpr (kRows == 1 || kVectors > 1) __builtin_prefetch(b + kDistance<kRows> + j * kLanes, 0, 3);
    columns[j] = wordsAt(b + j * kLanes);
  }
  MAX_UNROLL for (int i = 0; i < kRows; ++i) {
    const __m512bh value = everyWord<Word>(a[i] + k);
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) sum(i, j) = _mm512_dpbf16_ps(sum(i, j), value, columns[j]);
  }
}

// The same of all words of rows that lie at offsets. They are few, and stay in the first cache. Every second word has
// sums of its own.
template <int kRows, int kVectors, class Sums, class OddSums>
MAX_BF16 HWY_INLINE void multiplySpread(const GemmTile& t, const Sums& sum, const OddSums& odd) {
  const float* a[kRows];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) a[i] = t.rows[i];
  const float* b = t.b;
  const auto add = [&](int64_t k, const auto& sums) MAX_BF16 {
    const int64_t at = t.offsets[k];
    __m512bh columns[kVectors];
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) columns[j] = wordsAt(b + j * kLanes);
    MAX_UNROLL for (int i = 0; i < kRows; ++i) {
      const __m512bh value = everyWord<int32_t>(a[i] + at);
      MAX_UNROLL for (int j = 0; j < kVectors; ++j) sums(i, j) = _mm512_dpbf16_ps(sums(i, j), value, columns[j]);
    }
    b += kVectors * kLanes;
  };
  int64_t k = 0;
  for (; k + 2 <= t.depth; k += 2) {
    add(k, sum);
    add(k + 1, odd);
  }
  if (k < t.depth) add(k, sum);
}

template <int kRows, int kVectors>
MAX_BF16 HWY_INLINE void multiplyWords(Tile<kRows, kVectors>& tile, const GemmTile& t) {
  // So few sums would wait for each other: every second word has its own. Loads limit such tiles, so that they prefetch
  // nothing (but for one row, which waits for memory).
  constexpr bool kTwice = kVectors == 1;
  __m512 odd[kRows];
  if constexpr (kTwice) MAX_UNROLL for (int i = 0; i < kRows; ++i) odd[i] = _mm512_setzero_ps();
  const auto sumOf = [&](int i, int j) MAX_BF16 -> __m512& { return tile.sum[i][j].raw; };
  const auto oddOf = [&](int i, int) MAX_BF16 -> __m512& { return odd[i]; };
  const float* b = t.b;
  const float* ahead = t.ahead;
  const float* const* rows = t.rows;
  const bool isSpread = kRows == kTileRows && t.offsets;
  if constexpr (kRows == kTileRows && kTwice) {
    if (isSpread) multiplySpread<kRows, kVectors>(t, sumOf, oddOf);
  } else if constexpr (kRows == kTileRows) {
    if (isSpread) multiplySpread<kRows, kVectors>(t, sumOf, sumOf);
  }
  for (int64_t tap = isSpread ? t.taps : 0; tap < t.taps; ++tap, rows += kTileRows) {
    if (!rows[0]) {
      b += t.depth * kVectors * kLanes;
      ahead += t.depth * t.aheadStep;
      continue;
    }
    const float* a[kRows];
    MAX_UNROLL for (int i = 0; i < kRows; ++i) a[i] = rows[i] + t.rowOffset;
    const int64_t whole = t.depth - t.endsInHalf;
    int64_t k = 0;
    for (; kTwice && k + 2 <= whole; k += 2, b += 2 * kVectors * kLanes) {
      multiplyWord<int32_t, kRows, kVectors>(a, k, b, sumOf);
      multiplyWord<int32_t, kRows, kVectors>(a, k + 1, b + kVectors * kLanes, oddOf);
    }
    for (; k < whole; ++k, b += kVectors * kLanes, ahead += t.aheadStep) {
      if constexpr (kRows > 1 && kVectors > 1) __builtin_prefetch(ahead, 0, 2);
      multiplyWord<int32_t, kRows, kVectors>(a, k, b, sumOf);
    }
    if (!t.endsInHalf) continue;
    multiplyWord<uint16_t, kRows, kVectors>(a, whole, b, sumOf);
    b += kVectors * kLanes;
    ahead += t.aheadStep;
  }
  if constexpr (kTwice)
    MAX_UNROLL for (int i = 0; i < kRows; ++i) tile.sum[i][0].raw = _mm512_add_ps(tile.sum[i][0].raw, odd[i]);
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

// What rounding takes away; nothing of what becomes infinite or NaN.
MAX_BF16 HWY_INLINE __m512 restOf(__m512 x) {
  const auto half = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x));
  const __m512 rounded = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
  const __mmask16 isFinite = _mm512_cmp_ps_mask(_mm512_abs_ps(rounded), _mm512_set1_ps(3.4e38f), _CMP_LT_OQ);
  return _mm512_maskz_sub_ps(isFinite, x, rounded);
}
MAX_BF16 void narrowRest(const float* from, int64_t count, uint16_t* to) {
  for (int64_t k = 0; k < count; k += kLanes) {
    const __mmask16 mask = firstElements(count - k);
    const __m256bh part = _mm512_cvtneps_pbh(restOf(_mm512_maskz_loadu_ps(mask, from + k)));
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
MAX_BF16 HWY_INLINE void addResidual(Tile<kRows, kVectors>& tile, const GemmTile& t, int64_t tail) {
  if (t.residual) tile.add(t.residual, t.ldr, tail);
  if (t.narrowResidual) addNarrowResidual(tile, t, tail);
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

// Functions of results that are rounded to bfloat16, in the same pass. Their own error is at most 2^-12 of a result,
// and 3e-7 of the argument; NaN stays NaN.
namespace rounded {

constexpr float kLog2E = 1.442695041f;

// 1 / (1 + 2^t). 2^t is 2 to its fraction, off by 7.5e-5, scaled; the reciprocal has 14 bits. Infinities have no
// fraction.
MAX_BF16 HWY_INLINE __m512 inverse(__m512 t) {
  constexpr float kPowers[] = {9.999251962e-01f, 6.958335638e-01f, 2.260671556e-01f, 7.802452147e-02f};
  const __m512 fraction = _mm512_max_ps(_mm512_sub_ps(t, _mm512_floor_ps(t)), _mm512_setzero_ps());
  __m512 power = _mm512_set1_ps(kPowers[3]);
  MAX_UNROLL for (int i = 2; i >= 0; --i) power = _mm512_fmadd_ps(power, fraction, _mm512_set1_ps(kPowers[i]));
  return _mm512_rcp14_ps(_mm512_add_ps(_mm512_scalef_ps(power, t), _mm512_set1_ps(1)));
}

MAX_BF16 HWY_INLINE __m512 sigmoid(__m512 x) { return inverse(_mm512_mul_ps(x, _mm512_set1_ps(-kLog2E))); }

// The normal distribution's logarithm of odds, divided by log 2, is close to an odd polynomial.
MAX_BF16 HWY_INLINE __m512 gelu(__m512 x) {
  constexpr float kOdds[] = {2.301651915f,     1.056079463e-01f,  -4.156264501e-04f, -1.015143769e-04f,
                             6.355471328e-06f, -1.708087038e-07f, 1.787466575e-09f};
  const __m512 bounded = _mm512_max_ps(_mm512_set1_ps(-5), _mm512_min_ps(_mm512_set1_ps(5), x));
  const __m512 square = _mm512_mul_ps(bounded, bounded);
  __m512 odds = _mm512_set1_ps(-kOdds[6]);
  MAX_UNROLL for (int i = 5; i >= 0; --i) odds = _mm512_fmadd_ps(odds, square, _mm512_set1_ps(-kOdds[i]));
  return _mm512_mul_ps(x, inverse(_mm512_mul_ps(bounded, odds)));
}

// (1 + tanh(y)) / 2 = 1 / (1 + e^(-2 y))
MAX_BF16 HWY_INLINE __m512 geluTanh(__m512 x) {
  const __m512 factor =
      _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.0356774081f), _mm512_set1_ps(0.797884561f));
  return _mm512_mul_ps(x, inverse(_mm512_mul_ps(_mm512_mul_ps(x, factor), _mm512_set1_ps(-2 * kLog2E))));
}

MAX_BF16 HWY_INLINE __m512 hardSwish(__m512 x) {
  const __m512 slope = _mm512_fmadd_ps(x, _mm512_set1_ps(1.f / 6), _mm512_set1_ps(0.5f));
  return _mm512_mul_ps(x, _mm512_min_ps(_mm512_set1_ps(1), _mm512_max_ps(_mm512_setzero_ps(), slope)));
}

}  // namespace rounded

MAX_BF16 HWY_INLINE __m512 addTo(__m512 value, const RowAddends& row, int64_t k, __mmask16 mask) {
  if (row.narrow) {
    const __m512i half = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, row.narrow + k));
    return _mm512_add_ps(value, _mm512_castsi512_ps(_mm512_slli_epi32(half, 16)));
  }
  return row.floats ? _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, row.floats + k)) : value;
}

// To `to`, or as floats where they were if that is NULL.
template <class Function>
MAX_BF16 HWY_INLINE void narrowEach(float* from, int64_t count, const RowAddends& row, uint16_t* to,
                                    const Function& function) {
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    const __m512 value = addTo(function(_mm512_loadu_ps(from + k)), row, k, 0xffff);
    if (to)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
    else
      _mm512_storeu_ps(from + k, value);
  }
  if (k == count) return;
  const __mmask16 mask = firstElements(count - k);
  const __m512 value = addTo(function(_mm512_maskz_loadu_ps(mask, from + k)), row, k, mask);
  if (to)
    _mm256_mask_storeu_epi16(to + k, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
  else
    _mm512_mask_storeu_ps(from + k, mask, value);
}

template <class Function>
MAX_BF16 HWY_INLINE void narrowEachRow(RoundedRows r, const Function& function) {
  for (int64_t i = 0; i < r.rows; ++i, r.from += r.stride) {
    narrowEach(r.from, r.count, r.added, r.to, function);
    if (r.to) r.to += r.toStride;
    if (r.added.floats) r.added.floats += r.addedStride;
    if (r.added.narrow) r.added.narrow += r.addedStride;
  }
}

MAX_BF16 void narrowFunction(const Activation& activation, const RoundedRows& rows) {
  switch (activation.op) {
    case ElementOp::Sigmoid:
      return narrowEachRow(rows, [](__m512 x) MAX_BF16 { return rounded::sigmoid(x); });
    case ElementOp::Swish: {
      const __m512 scale = _mm512_set1_ps(-rounded::kLog2E * activation.alpha);
      return narrowEachRow(
          rows, [=](__m512 x) MAX_BF16 { return _mm512_mul_ps(x, rounded::inverse(_mm512_mul_ps(x, scale))); });
    }
    case ElementOp::HardSwish:
      return narrowEachRow(rows, [](__m512 x) MAX_BF16 { return rounded::hardSwish(x); });
    case ElementOp::Gelu:
      return narrowEachRow(rows, [](__m512 x) MAX_BF16 { return rounded::gelu(x); });
    case ElementOp::GeluTanh:
      return narrowEachRow(rows, [](__m512 x) MAX_BF16 { return rounded::geluTanh(x); });
    default:
      applyFunction(activation, rows.from, rows.stride, rows.rows, rows.count);
      return narrowEachRow(rows, [](__m512 x) MAX_BF16 { return x; });
  }
}

MAX_BF16 void narrowFunctions(const GemmTile& t, int64_t rows) {
  RowAddends added{};
  if (t.epilogue->addsResidualLast) added = {t.residual, t.narrowResidual};
  narrowFunction(t.epilogue->activation, {t.c, t.ldc, rows, t.columns, t.narrow, t.ldn, added, t.ldr});
}

MAX_BF16 void addNarrowRows(const GemmTile& t, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < t.columns; k += kLanes) {
      const __mmask16 mask = firstElements(t.columns - k);
      float* to = t.c + i * t.ldc + k;
      const __m512 sum = addTo(_mm512_maskz_loadu_ps(mask, to), {nullptr, t.narrowResidual + i * t.ldr}, k, mask);
      _mm512_mask_storeu_ps(to, mask, sum);
    }
}

template <int kRows, int kVectors>
MAX_BF16 HWY_INLINE void completeWords(Tile<kRows, kVectors>& tile, const GemmTile& t) {
  const int64_t tail = tile.tailOf(t);
  const Activation& activation = t.epilogue->activation;
  if (t.sums) tile.add(t.sums, t.sumStride, tail);
  if (t.accumulate) tile.add(t.c, t.ldc, tail);
  if (t.finish) {
    tile.scaleAndAdd(t, tail);
    if (!t.epilogue->addsResidualLast) addResidual(tile, t, tail);
    tile.clamp(activation);
    if (tile.addsLastInRegisters(t)) addResidual(tile, t, tail);
    if (t.narrow && !activation.function) return storeNarrow(tile, t, tail);
  }
  tile.store(t.c, t.ldc, tail);
  if (!t.finish || !activation.function) return;
  if (t.narrow) return narrowFunctions(t, kRows);
  applyFunction(activation, t.c, t.ldc, kRows, t.columns);
  if (t.residual && t.epilogue->addsResidualLast) addRows(t, kRows);
  if (t.narrowResidual && t.epilogue->addsResidualLast) addNarrowRows(t, kRows);
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
  table.rate = 2;
  table.takesHalves = true;
  table.floats = &kGemmTable;
  table.narrow = narrow;
  table.narrowFunction = narrowFunction;
  table.narrowRest = narrowRest;
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
