// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of bfloat16 with AVX-512 BF16: a word holds what a channel has in two rows of the input, one
// above the other, and is multiplied by two taps at once. The end of conv_depthwise.cpp.
#if HWY_TARGET == HWY_AVX3

#include <immintrin.h>

#define MAX_BF16 __attribute__((target(HWY_TARGET_STR ",avx512bf16")))

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace {

constexpr int64_t kPair = 2 * kLanes;  // channels of two vectors of sums

MAX_BF16 HWY_INLINE __mmask16 firstOf(int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : (1 << count) - 1);
}

alignas(64) constexpr uint16_t kInterleaved[kPair] = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                                      8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
alignas(64) constexpr int64_t kLowHalf[] = {0, 1, 8, 9, 2, 3, 10, 11}, kHighHalf[] = {4, 5, 12, 13, 6, 7, 14, 15};

// Words of channels: those of two vectors have them in the order of DepthwiseWeights, those of one as they are.
template <int kVectors>
struct Words {
  __m512bh v[kVectors];

  MAX_BF16 HWY_INLINE void interleave(const uint16_t* above, const uint16_t* below, int64_t count) {
    if constexpr (kVectors == 2) {
      __m512i a = _mm512_loadu_si512(above), b = _mm512_loadu_si512(below);
      __asm__("" : "+v"(a), "+v"(b));  // or each is loaded twice
      v[0] = reinterpret_cast<__m512bh>(_mm512_unpacklo_epi16(a, b));
      v[1] = reinterpret_cast<__m512bh>(_mm512_unpackhi_epi16(a, b));
    } else {
      const __mmask16 mask = firstOf(count);
      const __m256i a = _mm256_maskz_loadu_epi16(mask, above), b = _mm256_maskz_loadu_epi16(mask, below);
      v[0] = reinterpret_cast<__m512bh>(_mm512_permutex2var_epi16(
          _mm512_castsi256_si512(a), _mm512_load_si512(kInterleaved), _mm512_castsi256_si512(b)));
    }
  }
};

template <int kVectors>
struct Sums {
  __m512 v[kVectors];

  MAX_BF16 HWY_INLINE void start(const float* bias, int64_t count) {
    if (!bias) {
      MAX_UNROLL for (int i = 0; i < kVectors; ++i) v[i] = _mm512_setzero_ps();
    } else if constexpr (kVectors == 2) {
      const __m512 low = _mm512_loadu_ps(bias), high = _mm512_loadu_ps(bias + kLanes);
      v[0] = _mm512_shuffle_f32x4(low, high, 0x88);
      v[1] = _mm512_shuffle_f32x4(low, high, 0xdd);
    } else {
      v[0] = _mm512_maskz_loadu_ps(firstOf(count), bias);
    }
  }

  MAX_BF16 HWY_INLINE void finish(const DepthwiseBand& band, int64_t at, int64_t count) {
    if constexpr (kVectors == 2) {
      const __m512d even = _mm512_castps_pd(v[0]), odd = _mm512_castps_pd(v[1]);
      v[0] = _mm512_castpd_ps(_mm512_permutex2var_pd(even, _mm512_load_si512(kLowHalf), odd));
      v[1] = _mm512_castpd_ps(_mm512_permutex2var_pd(even, _mm512_load_si512(kHighHalf), odd));
    }
    const __mmask16 mask = kVectors == 2 ? 0xffff : firstOf(count);
    const __m512 low = _mm512_set1_ps(band.low), high = _mm512_set1_ps(band.high);
    MAX_UNROLL for (int i = 0; i < kVectors; ++i) {
      if (band.residual) v[i] = _mm512_add_ps(v[i], _mm512_maskz_loadu_ps(mask, band.residual + at + i * kLanes));
      v[i] = _mm512_min_ps(high, _mm512_max_ps(low, v[i]));
    }
    if (!band.narrow) {
      MAX_UNROLL for (int i = 0; i < kVectors; ++i) {
        float* to = band.out + at + i * kLanes;
        if (band.isStreamed)
          _mm512_stream_ps(to, v[i]);
        else if (kVectors == 2 || count >= kLanes)
          _mm512_storeu_ps(to, v[i]);
        else
          _mm512_mask_storeu_ps(to, mask, v[i]);
      }
      return;
    }
    uint16_t* to = band.narrow + at;
    if constexpr (kVectors == 2) {
      _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(v[1], v[0])));
    } else {
      const auto half = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v[0]));
      if (count >= kLanes)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), half);
      else
        _mm256_mask_storeu_epi16(to, mask, half);
    }
  }
};

alignas(64) constexpr uint16_t kNoWords[kPair] = {};

// Some channels of a row of a tile. kEdge: some columns may lie outside the row, some pixels past its end.
template <int kWidth, int kStride, int kPixels, int kVectors, bool kEdge>
MAX_BF16 HWY_INLINE void wordBlock(const DepthwiseBand& band, Place place, int64_t c, int64_t count) {
  constexpr int kInputs = (kPixels - 1) * kStride + kWidth;
  const int64_t step = band.inStep, column = place.pixel * kStride - band.before, at = column * step + c;
  Sums<kVectors> sum[kPixels];
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) sum[p].start(band.bias ? band.bias + c : nullptr, count);
  for (int64_t r = 0, next = 0; r < band.kernelRows; r = next) {
    next = r + 1;
    const auto *above = band.row<uint16_t>(place.h, r), *below = kNoWords;
    if (!above) continue;
    above += at;
    const bool isPair = next < band.kernelRows && band.row<uint16_t>(place.h, next);
    if (isPair) below = band.row<uint16_t>(place.h, next++) + at;
    const int64_t belowStep = isPair ? step : 0;
    const float* weights = band.weights + r * band.weightsStep + (isPair ? 0 : band.weightsStep / 2) + c * kWidth;
    __m512bh taps[kWidth][kVectors];
    MAX_UNROLL for (int w = 0; w < kWidth; ++w) MAX_UNROLL for (int v = 0; v < kVectors; ++v) taps[w][v] =
        reinterpret_cast<__m512bh>(_mm512_loadu_ps(weights + (w * kVectors + v) * kLanes));
    MAX_UNROLL for (int i = 0; i < kInputs; ++i, above += step, below += belowStep) {
      if (kEdge && static_cast<uint64_t>(column + i) >= static_cast<uint64_t>(band.inWidth)) continue;
      Words<kVectors> words;
      words.interleave(above, below, count);
      MAX_UNROLL for (int w = 0; w < kWidth; ++w) {
        const int p = (i - w) / kStride;
        if (i < w || (i - w) % kStride != 0 || p >= kPixels) continue;
        MAX_UNROLL for (int v = 0; v < kVectors; ++v) sum[p].v[v] =
            _mm512_dpbf16_ps(sum[p].v[v], words.v[v], taps[w][v]);
      }
    }
  }
  const int64_t first = place.h * band.outRowStep + place.pixel * band.outStep + c;
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) if (!kEdge || place.pixel + p < band.outWidth) sum[p].finish(
      band, first + p * band.outStep, count);
}

template <int kWidth, int kStride, int kPixels>
struct WordTile {
  template <int kRows>
  MAX_BF16 static void run(const DepthwiseBand& band, Place at, bool isEdge, int64_t first, int64_t last) {
    if (isEdge)
      runChannels<kRows, true>(band, at, first, last);
    else
      runChannels<kRows, false>(band, at, first, last);
  }

  template <int kRows, bool kEdge>
  MAX_BF16 static void runChannels(const DepthwiseBand& band, Place at, int64_t first, int64_t last) {
    const Ahead<uint16_t, kPixels * kStride> ahead(band, at, kRows);
    int64_t c = first;
    for (; c + kPair <= last; c += kPair) {
      ahead.prefetch(c);
      wordBlock<kWidth, kStride, kPixels, 2, kEdge>(band, at, c, kPair);
    }
    if (c + kLanes <= last) {
      wordBlock<kWidth, kStride, kPixels, 1, kEdge>(band, at, c, kLanes);
      c += kLanes;
    }
    if (c < last) wordBlock<kWidth, kStride, kPixels, 1, kEdge>(band, at, c, last - c);
  }
};

template <int kWidth, int kStride, int kPixels>
void runWords(const DepthwiseBand& band) {
  forTiles<kPixels, 1>(band, WordTile<kWidth, kStride, kPixels>());
}

void runWordBand(const DepthwiseBand& band) {
  constexpr Kernel kWordKernels[] = {{3, 1, runWords<3, 1, 7>},
                                     {3, 2, runWords<3, 2, 7>},
                                     {5, 1, runWords<5, 1, 7>},
                                     {5, 2, runWords<5, 2, 6>},
                                     {7, 1, runWords<7, 1, 4>}};
  for (const Kernel& kernel : kWordKernels)
    if (band.kernelWidth == kernel.width && band.stride == kernel.stride) return kernel.run(band);
}

}  // namespace

extern const DepthwiseFunction kDepthwiseWords;
constexpr DepthwiseFunction kDepthwiseWords = runWordBand;

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef MAX_BF16

#endif
