// SPDX-License-Identifier: Apache-2.0
// Planes of words of bfloat16 with AVX-512 BF16: words of 16 pixels, of two channels each, are multiplied by a word of
// each filter. The end of conv_stem.cpp.
#if HWY_TARGET == HWY_AVX3

#include <immintrin.h>

#define MAX_BF16 __attribute__((target(HWY_TARGET_STR ",avx512bf16")))

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace {

// `count` pixels, at least one of each vector.
template <int kFilters, int kCount>
MAX_BF16 void planeOfWords(const StemRow& row, int64_t pixel, int64_t count) {
  __m512 sum[kFilters][kCount];
  MAX_UNROLL for (int f = 0; f < kFilters; ++f) {
    const __m512 bias = _mm512_set1_ps(row.bias && f < row.filters ? row.bias[f] : 0.f);
    MAX_UNROLL for (int v = 0; v < kCount; ++v) sum[f][v] = bias;
  }
  for (int64_t r = 0; r < row.rows; ++r) {
    const float *x = row.x[r] + pixel, *weights = row.weights[r];
    for (int64_t tap = 0; tap < row.rowTaps; ++tap, weights += kFilters) {
      const float* from = x + row.offsets[tap];
      __m512bh words[kCount];
      MAX_UNROLL for (int v = 0; v < kCount; ++v) words[v] =
          reinterpret_cast<__m512bh>(_mm512_loadu_ps(from + v * kLanes));
      MAX_UNROLL for (int f = 0; f < kFilters; ++f) {
        const auto weight = reinterpret_cast<__m512bh>(_mm512_set1_ps(weights[f]));
        MAX_UNROLL for (int v = 0; v < kCount; ++v) sum[f][v] = _mm512_dpbf16_ps(sum[f][v], words[v], weight);
      }
    }
  }
  const __m512 low = _mm512_set1_ps(row.low), high = _mm512_set1_ps(row.high);
  HWY_ALIGN float sums[kFilters * kCount * kLanes];
  MAX_UNROLL for (int f = 0; f < kFilters; ++f) MAX_UNROLL for (int v = 0; v < kCount; ++v)
      _mm512_store_ps(sums + (f * kCount + v) * kLanes, _mm512_min_ps(high, _mm512_max_ps(low, sum[f][v])));
  storePixels<kFilters, kCount>(row, sums, pixel, count);
}

// Rows are divided into as few tiles as they fit.
template <int kFilters, int kCount>
void runPixelsOfWords(const StemRow& row, int64_t pixel) {
  constexpr int64_t kTile = kCount * kLanes, kFewer = kTile - kLanes;
  for (; row.pixels - pixel > kFewer; pixel += kTile)
    planeOfWords<kFilters, kCount>(row, pixel, std::min(kTile, row.pixels - pixel));
  if constexpr (kCount > 1) {
    if (pixel < row.pixels) runPixelsOfWords<kFilters, kCount - 1>(row, pixel);
  }
}

void runPlanesOfWords(const StemRow& row) {
  if (row.filters > kPlaneFilters) return runPixelsOfWords<2 * kPlaneFilters, kPlaneVectors<2 * kPlaneFilters>>(row, 0);
  runPixelsOfWords<kPlaneFilters, kPlaneVectors<kPlaneFilters>>(row, 0);
}

}  // namespace

extern const StemTable kStemOfWords;
constexpr StemTable kStemOfWords = {kMostOfPlanes, kPlaneFilters, runPlanesOfWords, kLanes, kMostOfPlanes, 2};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef MAX_BF16

#endif
