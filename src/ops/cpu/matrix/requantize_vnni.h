// SPDX-License-Identifier: Apache-2.0
// Sums of 8-bit products in vectors of AVX-512 to 8-bit numbers, as Requantization says (gemm_int.h).
#pragma once

// GCC 12 takes the undefined operands of these intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "ops/cpu/matrix/gemm_int.h"

#define MAX_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace max {

struct RequantizationVectors {
  const float* factors;
  const int32_t* bias;
  __m512 low, high;
  __m512i zero;
  bool isSigned;

  MAX_VNNI explicit RequantizationVectors(const Requantization& how)
      : factors(how.factors),
        bias(how.bias),
        low(_mm512_set1_ps(static_cast<float>(how.low - how.zero))),
        high(_mm512_set1_ps(static_cast<float>(how.high - how.zero))),
        zero(_mm512_set1_epi32(how.zero)),
        isSigned((how.sum ? how.sum->low : how.low) < 0) {}

  // Without the zero point. NaN becomes the lower end: the second operand of max is taken then.
  MAX_VNNI __m512i scaled(__m512i sums, int64_t column) const {
    if (bias) sums = _mm512_add_epi32(sums, _mm512_loadu_si512(bias + column));
    const __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(factors + column));
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(x, low), high));
  }
};

// `own` is without its zero point; the result has that of the sum.
MAX_VNNI inline __m512i addOther(const RequantizedSum& how, __m512i own, __m128i other) {
  const int32_t flip = how.otherIsSigned ? 128 : 0;
  const __m512i code = _mm512_xor_si512(_mm512_cvtepu8_epi32(other), _mm512_set1_epi32(flip));
  const __m512i centred = _mm512_sub_epi32(code, _mm512_set1_epi32(how.otherZero + flip));
  const __m512 sum = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(own), _mm512_set1_ps(how.ownScale)),
                                   _mm512_mul_ps(_mm512_cvtepi32_ps(centred), _mm512_set1_ps(how.otherScale)));
  __m512 x = _mm512_div_ps(sum, _mm512_set1_ps(how.scale));
  x = _mm512_max_ps(x, _mm512_set1_ps(static_cast<float>(how.low - how.sumZero)));
  x = _mm512_min_ps(x, _mm512_set1_ps(static_cast<float>(how.high - how.sumZero)));
  return _mm512_add_epi32(_mm512_cvtps_epi32(x), _mm512_set1_epi32(how.sumZero));
}

// In each quarter: the numbers of that quarter of the first vector, then of the second and so on.
MAX_VNNI inline __m512i packed(const __m512i (&numbers)[4], bool isSigned) {
  const __m512i low = _mm512_packs_epi32(numbers[0], numbers[1]), high = _mm512_packs_epi32(numbers[2], numbers[3]);
  return isSigned ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
}

MAX_VNNI inline void storeFirst(__m512i bytes, int64_t count, uint8_t* out) {
  // Masked stores cost much more than others.
  if (count >= 64) return _mm512_storeu_si512(out, bytes);
  if (count == 32) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(bytes));
  if (count == 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(bytes));
  _mm512_mask_storeu_epi8(out, (uint64_t{1} << count) - 1, bytes);
}

}  // namespace max
