// SPDX-License-Identifier: Apache-2.0
// Sums of 8-bit products in vectors of AVX-512 to 8-bit numbers, as Requantization says (gemm_int.h).
#pragma once

// GCC 12 takes the undefined operands of these intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include "ops/cpu/matrix/gemm_int.h"

#define MAX_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace max {

// Of 16 lanes, those of so many elements.
inline __mmask16 existingLanes(int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : (1 << std::max<int64_t>(count, 0)) - 1);
}

// sum + value * the words at b, which are read from memory each time. The sum stays in its register, from which
// compilers move that of the intrinsic.
MAX_VNNI inline __m512i addProducts(__m512i sum, __m512i value, const void* b) {
  struct Words {
    int32_t words[16];
  };
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(value), "m"(*static_cast<const Words*>(b)));
  return sum;
}

MAX_VNNI inline __m512i addProducts(__m512i sum, __m512i value, __m512i words) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(value), "v"(words));
  return sum;
}

MAX_VNNI inline __m256i addProducts(__m256i sum, __m256i value, __m256i words) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(value), "v"(words));
  return sum;
}

MAX_VNNI inline __m128i addProducts(__m128i sum, __m128i value, __m128i words) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(value), "v"(words));
  return sum;
}

// Numbers of 32 bits, without zero point and ends, to bytes.
struct PackedBytes {
  __m512i zero;             // in 16 bits
  __m512i least, greatest;  // in 8 bits

  MAX_VNNI __attribute__((always_inline)) PackedBytes(int32_t zeroPoint, int32_t low, int32_t high)
      : zero(_mm512_set1_epi16(static_cast<int16_t>(zeroPoint))),
        least(_mm512_set1_epi8(static_cast<char>(low))),
        greatest(_mm512_set1_epi8(static_cast<char>(high))) {}

  // In each quarter: the numbers of that quarter of the first vector, then of the second and so on.
  template <bool kSigned>
  MAX_VNNI __attribute__((always_inline)) __m512i packed(const __m512i (&numbers)[4]) const {
    const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(numbers[0], numbers[1]), zero);
    const __m512i second = _mm512_adds_epi16(_mm512_packs_epi32(numbers[2], numbers[3]), zero);
    if constexpr (kSigned)
      return _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(first, second), least), greatest);
    else
      return _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(first, second), least), greatest);
  }
};

struct RequantizationVectors : PackedBytes {
  const float* factors;
  __m512 low, high;  // of the first rounding, without its zero point
  bool isSigned, mayOverflow;
  const float *ownFactors = nullptr, *addends = nullptr;
  // With a sum: its factors, its upper end without the zero point, and the other operand's zero point.
  __m512 ownFactor{}, otherFactor{}, most{}, otherZero{};
  bool otherIsSigned = false;

  MAX_VNNI explicit RequantizationVectors(const Requantization& how)
      : PackedBytes(how.sum ? how.sum->sumZero : how.zero, how.sum ? how.sum->low : how.low,
                    how.sum ? how.sum->high : how.high),
        factors(how.factors),
        low(_mm512_set1_ps(static_cast<float>(how.low - how.zero))),
        high(_mm512_set1_ps(static_cast<float>(how.high - how.zero))),
        isSigned((how.sum ? how.sum->low : how.low) < 0),
        mayOverflow(how.mayOverflow) {
    if (!how.sum) return;
    ownFactors = how.sum->ownFactors;
    addends = how.sum->addends;
    ownFactor = _mm512_set1_ps(how.sum->ownFactor);
    otherFactor = _mm512_set1_ps(how.sum->otherFactor);
    most = _mm512_set1_ps(static_cast<float>(how.sum->high - how.sum->sumZero));
    otherZero = _mm512_set1_ps(static_cast<float>(how.sum->otherZero));
    otherIsSigned = how.sum->otherIsSigned;
  }

  // Sums with the bias to numbers without zero point or ends, which packed() adds; of column + 16 j. NaN and, without
  // mayOverflow, too small ones become the least number of 32 bits.
  template <int kCount>
  MAX_VNNI void round(const __m512i* sums, int64_t column, __m512i* numbers) const {
    __m512 x[kCount];
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j)
      x[j] = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[j]), _mm512_loadu_ps(factors + column + 16 * j));
    if (mayOverflow) {
      // The second operand of min is taken for NaN.
#pragma GCC unroll 4
      for (int j = 0; j < kCount; ++j) x[j] = _mm512_min_ps(high, x[j]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j) numbers[j] = _mm512_cvtps_epi32(x[j]);
  }

  // The same of their sums with other numbers, of which `other(j)` has 16, or with those of columns.
  template <int kCount, class Other>
  MAX_VNNI __attribute__((always_inline)) void sum(const __m512i* sums, int64_t column, Other other,
                                                   __m512i* numbers) const {
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j)
      numbers[j] = withAddend(sums[j], column + 16 * j, ownFactor,
                              otherIsSigned ? scaled<true>(other(j)) : scaled<false>(other(j)));
  }
  template <int kCount>
  MAX_VNNI void sum(const __m512i* sums, int64_t column, __m512i* numbers) const {
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j)
      numbers[j] = withAddend(sums[j], column + 16 * j, _mm512_loadu_ps(ownFactors + column + 16 * j),
                              _mm512_loadu_ps(addends + column + 16 * j));
  }

  // Of four vectors with `other`: bytes to add, where the results' bytes will be.
  MAX_VNNI __attribute__((always_inline)) void sumWithPacked(const __m512i (&sums)[4], int64_t column, __m512i other,
                                                             __m512i (&numbers)[4]) const {
    const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    sum<4>(
        sums, column,
        [&](int j) MAX_VNNI {
          const __m512i words = _mm512_add_epi32(first, _mm512_set1_epi32(j));
          return _mm512_castsi512_si128(_mm512_permutexvar_epi32(words, other));
        },
        numbers);
  }

  // One vector of sums with 16 other bytes, whose products do not overflow.
  template <bool kOtherIsSigned>
  MAX_VNNI __attribute__((always_inline)) __m512i sumWithBytes(__m512i sums, int64_t column,
                                                               const uint8_t* other) const {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(other));
    return _mm512_cvtps_epi32(added(sums, column, ownFactor, scaled<kOtherIsSigned>(bytes)));
  }

  MAX_VNNI __attribute__((always_inline)) __m512i packed(const __m512i (&numbers)[4]) const {
    return isSigned ? PackedBytes::packed<true>(numbers) : PackedBytes::packed<false>(numbers);
  }

 private:
  // Of the other operand.
  template <bool kSigned>
  MAX_VNNI __attribute__((always_inline)) __m512 scaled(__m128i bytes) const {
    const __m512i codes = kSigned ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(codes), otherZero), otherFactor);
  }
  MAX_VNNI __attribute__((always_inline)) __m512 added(__m512i sums, int64_t column, __m512 factor,
                                                       __m512 addend) const {
    // NaN becomes the lower end: the second operand of max is taken then.
    __m512 own = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(factors + column));
    own = _mm512_roundscale_ps(_mm512_min_ps(_mm512_max_ps(own, low), high), _MM_FROUND_TO_NEAREST_INT);
    return _mm512_add_ps(_mm512_mul_ps(own, factor), addend);
  }
  MAX_VNNI __attribute__((always_inline)) __m512i withAddend(__m512i sums, int64_t column, __m512 factor,
                                                             __m512 addend) const {
    return _mm512_cvtps_epi32(_mm512_min_ps(most, added(sums, column, factor, addend)));
  }
};

// The first `left` of 16 bytes, others 0; all if there are as many.
MAX_VNNI inline __m128i loadFirst(const uint8_t* from, int64_t left) {
  if (left >= 16) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm_maskz_loadu_epi8(static_cast<__mmask16>((1 << left) - 1), from);
}

MAX_VNNI inline void storeFirst(__m512i bytes, int64_t count, uint8_t* out) {
  // Masked stores cost much more than others.
  if (count >= 64) return _mm512_storeu_si512(out, bytes);
  if (count == 32) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(bytes));
  if (count == 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(bytes));
  if (count == 8) return _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(bytes));
  _mm512_mask_storeu_epi8(out, (uint64_t{1} << count) - 1, bytes);
}

}  // namespace max
