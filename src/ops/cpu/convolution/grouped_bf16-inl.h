// SPDX-License-Identifier: Apache-2.0
// Convolutions of bfloat16 in groups of few channels with AVX-512 BF16: 16 words of two channels are multiplied once
// for each word of a group. The end of conv_grouped.cpp.
#if HWY_TARGET == HWY_AVX3

#include <immintrin.h>

#define MAX_BF16 __attribute__((target(HWY_TARGET_STR ",avx512bf16")))

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace {

constexpr int64_t kWordFilters = 2 * kLanes;  // of two vectors of sums
constexpr int kWordPixels = 7;                // so that their sums are in registers

// Lane l of vector v of the sums belongs to the group whose word is lane l of the input, and has its filter
// l % words + v * words. Filters of the sums, and sums of the filters.
template <int kGroup>
struct Places {
  alignas(64) int32_t filters[2][kLanes], sums[2][kLanes];
  constexpr Places() : filters(), sums() {
    constexpr int kWords = kGroup / 2;
    for (int v = 0; v < 2; ++v)
      for (int l = 0; l < kLanes; ++l) {
        const int filter = l / kWords * kGroup + v * kWords + l % kWords;
        filters[v][l] = filter;
        sums[filter / kLanes][filter % kLanes] = v * static_cast<int>(kLanes) + l;
      }
  }
};
template <int kGroup>
constexpr Places<kGroup> kPlaces;

template <int kStep>
MAX_BF16 HWY_INLINE __m512i rotateFours(__m512i words) {
  constexpr int kOrder = kStep | (kStep + 1) % 4 << 2 | (kStep + 2) % 4 << 4 | (kStep + 3) % 4 << 6;
  return _mm512_shuffle_epi32(words, static_cast<_MM_PERM_ENUM>(kOrder));
}

// Each lane has the word of its group that is `j` after its own.
template <int kGroup>
MAX_BF16 HWY_INLINE __m512bh rotate(__m512i words, int j) {
  if (j > 0 && kGroup == 4) words = _mm512_shuffle_epi32(words, static_cast<_MM_PERM_ENUM>(0xb1));  // 1, 0, 3, 2
  if (j == 1 && kGroup == 8) words = rotateFours<1>(words);
  if (j == 2 && kGroup == 8) words = rotateFours<2>(words);
  if (j == 3 && kGroup == 8) words = rotateFours<3>(words);
  return reinterpret_cast<__m512bh>(words);
}

// Of two vectors together.
MAX_BF16 HWY_INLINE void reorder(const int32_t (&places)[2][kLanes], __m512 (&v)[2]) {
  const __m512 low = v[0], high = v[1];
  MAX_UNROLL for (int i = 0; i < 2; ++i) v[i] = _mm512_permutex2var_ps(low, _mm512_load_si512(places[i]), high);
}

template <int kGroup>
MAX_BF16 HWY_INLINE void storeGroups(const GroupedRow& row, int64_t pixel, __m512 (&sum)[2]) {
  const __m512 low = _mm512_set1_ps(row.low), high = _mm512_set1_ps(row.high);
  reorder(kPlaces<kGroup>.sums, sum);
  MAX_UNROLL for (int v = 0; v < 2; ++v) sum[v] = _mm512_min_ps(high, _mm512_max_ps(low, sum[v]));
  const int64_t at = pixel * row.filters;
  if (row.narrow) {
    _mm512_storeu_si512(row.narrow + at, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(sum[1], sum[0])));
    return;
  }
  MAX_UNROLL for (int v = 0; v < 2; ++v) _mm512_storeu_ps(row.out + at + v * kLanes, sum[v]);
}

template <int kGroup, int kCount>
MAX_BF16 HWY_INLINE void wordTile(const GroupedRow& row, int64_t pixel) {
  constexpr int kWords = kGroup / 2;
  __m512 bias[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()}, sum[kCount][2];
  if (row.bias) {
    MAX_UNROLL for (int v = 0; v < 2; ++v) bias[v] = _mm512_loadu_ps(row.bias + v * kLanes);
    reorder(kPlaces<kGroup>.filters, bias);
  }
  MAX_UNROLL for (int p = 0; p < kCount; ++p) MAX_UNROLL for (int v = 0; v < 2; ++v) sum[p][v] = bias[v];
  const int64_t step = row.stride * row.step;
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, x += row.tapStep, weights += kWords * kWordFilters) {
      __m512bh factors[kWords][2];
      MAX_UNROLL for (int j = 0; j < kWords; ++j) MAX_UNROLL for (int v = 0; v < 2; ++v) factors[j][v] =
          reinterpret_cast<__m512bh>(_mm512_loadu_ps(weights + j * kWordFilters + v * kLanes));
      MAX_UNROLL for (int p = 0; p < kCount; ++p) {
        const __m512i words = _mm512_loadu_si512(x + p * step);
        MAX_UNROLL for (int j = 0; j < kWords; ++j) {
          const __m512bh turned = rotate<kGroup>(words, j);
          MAX_UNROLL for (int v = 0; v < 2; ++v) sum[p][v] = _mm512_dpbf16_ps(sum[p][v], turned, factors[j][v]);
        }
      }
    }
  }
  MAX_UNROLL for (int p = 0; p < kCount; ++p) storeGroups<kGroup>(row, pixel + p, sum[p]);
}

// The last tile overlaps the one before it.
template <int kGroup>
MAX_BF16 void runWordPixels(const GroupedRow& row) {
  int64_t pixel = 0;
  for (; pixel + kWordPixels <= row.pixels; pixel += kWordPixels) wordTile<kGroup, kWordPixels>(row, pixel);
  if (pixel < row.pixels && row.pixels >= kWordPixels)
    return wordTile<kGroup, kWordPixels>(row, row.pixels - kWordPixels);
  for (; pixel < row.pixels; ++pixel) wordTile<kGroup, 1>(row, pixel);
}

void runWords(const GroupedRow& row, int64_t groupChannels) {
  if (groupChannels == 2) return runWordPixels<2>(row);
  if (groupChannels == 4) return runWordPixels<4>(row);
  runWordPixels<8>(row);
}

constexpr int kOnePixels = 14;  // so that their sums are in registers

MAX_BF16 HWY_INLINE void storeOne(const GroupedRow& row, int64_t pixel, __m512 sum) {
  const auto mask = static_cast<__mmask16>((1u << row.count) - 1);
  sum = _mm512_min_ps(_mm512_set1_ps(row.high), _mm512_max_ps(_mm512_set1_ps(row.low), sum));
  if (!row.narrow) return _mm512_mask_storeu_ps(row.out + pixel * row.filters, mask, sum);
  auto* to = reinterpret_cast<__m256i*>(row.narrow + pixel * row.filters);
  const auto half = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sum));
  // Masked stores are slow.
  if (row.count == kLanes)
    _mm256_storeu_si256(to, half);
  else
    _mm256_mask_storeu_epi16(to, mask, half);
}

// `taps` of a kernel row, each of `words` that follow each other.
template <int kCount>
MAX_BF16 HWY_INLINE void oneTile(const GroupedRow& row, int64_t taps, int64_t words, int64_t pixel) {
  constexpr int kFours = (kCount + 3) / 4;
  const __m512 bias =
      row.bias ? _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << row.count) - 1), row.bias) : _mm512_setzero_ps();
  __m512 sum[kCount];
  MAX_UNROLL for (int p = 0; p < kCount; ++p) sum[p] = bias;
  // Few registers have the places of all pixels.
  const int64_t step = row.stride * row.step;
  int64_t thrice = 3 * step;
  __asm__("" : "+r"(thrice));
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel * step, *weights = row.weights[r];
    for (int64_t tap = 0; tap < taps; ++tap, x += row.tapStep) {
      const float* four[kFours];
      MAX_UNROLL for (int i = 0; i < kFours; ++i) four[i] = x + 4 * i * step;
      for (const float* end = weights + words * kLanes; weights < end; weights += kLanes) {
        const auto factors = reinterpret_cast<__m512bh>(_mm512_loadu_ps(weights));
        MAX_UNROLL for (int p = 0; p < kCount; ++p) {
          const float* word = four[p / 4] + (p % 4 == 3 ? thrice : p % 4 * step);
          sum[p] = _mm512_dpbf16_ps(sum[p], reinterpret_cast<__m512bh>(_mm512_set1_ps(*word)), factors);
        }
        MAX_UNROLL for (int i = 0; i < kFours; ++i) {
          ++four[i];
          __asm__("" : "+r"(four[i]));
        }
      }
    }
  }
  MAX_UNROLL for (int p = 0; p < kCount; ++p) storeOne(row, pixel + p, sum[p]);
}

template <int kCount>
MAX_BF16 void runOneTiles(const GroupedRow& row, int64_t taps, int64_t words) {
  int64_t pixel = 0;
  for (; pixel + kCount <= row.pixels; pixel += kCount) oneTile<kCount>(row, taps, words, pixel);
  if (pixel < row.pixels) oneTile<kCount>(row, taps, words, row.pixels - kCount);
}

void runOne(const GroupedRow& row, int64_t groupChannels) {
  // A group of all channels has the words of a kernel row in a row.
  const bool areJoined = row.tapStep == groupChannels / 2;
  const int64_t taps = areJoined ? 1 : row.rowTaps, words = groupChannels / 2 * (areJoined ? row.rowTaps : 1);
  if (row.pixels >= kOnePixels) return runOneTiles<kOnePixels>(row, taps, words);
  if (row.pixels >= kOnePixels / 2) return runOneTiles<kOnePixels / 2>(row, taps, words);
  row.pixels >= 4 ? runOneTiles<4>(row, taps, words) : runOneTiles<1>(row, taps, words);
}

}  // namespace

extern const GroupedTable kGroupedWords, kOneGroupOfWords;
constexpr GroupedTable kGroupedWords = {kWordFilters, true, false, runWords};
constexpr GroupedTable kOneGroupOfWords = {kLanes, true, true, runOne};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef MAX_BF16

#endif
