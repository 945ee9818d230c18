// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers with AVX-512 VNNI.
#include "ops/cpu/convolution/conv_quantized.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include "ops/cpu/matrix/requantize_vnni.h"

namespace max {

namespace {

// 64 channels, of which kCount exist; 0 = those of the mask.
template <int kCount>
MAX_VNNI inline __m512i load(const uint8_t* from, __mmask64 exists) {
  if (kCount == 64) return _mm512_loadu_si512(from);
  if (kCount == 32) return _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  if (kCount == 16) return _mm512_zextsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  return _mm512_maskz_loadu_epi8(exists, from);
}

// Channels [c, c + 64).
template <int kCount>
MAX_VNNI inline void runBlock(const DepthwiseQuads& pixel, const RequantizationVectors& how, int64_t c,
                              __mmask64 exists = 0) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(pixel.flip));
  __m512i sums[4] = {};
  for (int64_t quad = 0; quad < pixel.quads; ++quad) {
    __m512i taps[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const uint8_t* from = pixel.taps[(4 * quad + i) * pixel.stride] + c;
      taps[i] = _mm512_xor_si512(load<kCount>(from, exists), flip);
    }
    // Four bytes of a channel become a word.
    const __m512i lowFirst = _mm512_unpacklo_epi8(taps[0], taps[1]), highFirst = _mm512_unpackhi_epi8(taps[0], taps[1]);
    const __m512i lowLast = _mm512_unpacklo_epi8(taps[2], taps[3]), highLast = _mm512_unpackhi_epi8(taps[2], taps[3]);
    const __m512i words[4] = {_mm512_unpacklo_epi16(lowFirst, lowLast), _mm512_unpackhi_epi16(lowFirst, lowLast),
                              _mm512_unpacklo_epi16(highFirst, highLast), _mm512_unpackhi_epi16(highFirst, highLast)};
    const int8_t* weights = pixel.weights + (quad * depthwiseQuadPlaces(pixel.channels) + c) * 4;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], words[i], _mm512_loadu_si512(weights + 64 * i));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i bias = _mm512_loadu_si512(pixel.how->bias + c + 16 * i);
    sums[i] = how.rounded(_mm512_add_epi32(sums[i], bias), c + 16 * i);
  }
  storeFirst(how.packed(sums), pixel.channels - c, pixel.out + c);
}

MAX_VNNI void run(const DepthwiseQuads& pixel) {
  const RequantizationVectors how(*pixel.how);
  int64_t c = 0;
  for (; c + kQuadBlock <= pixel.channels; c += kQuadBlock) runBlock<64>(pixel, how, c);
  const int64_t left = pixel.channels - c;
  if (left == 32) return runBlock<32>(pixel, how, c);
  if (left == 16) return runBlock<16>(pixel, how, c);
  if (left > 0) runBlock<0>(pixel, how, c, (__mmask64{1} << left) - 1);
}

}  // namespace

DepthwiseQuadsFunction depthwiseQuadsFunction() { return cpuTarget() < CpuTarget::Avx512Vnni ? nullptr : run; }

}  // namespace max

#else

namespace max {

DepthwiseQuadsFunction depthwiseQuadsFunction() { return nullptr; }

}  // namespace max

#endif
