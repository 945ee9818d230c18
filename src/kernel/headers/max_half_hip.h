// SPDX-License-Identifier: Apache-2.0
// Halves on AMD's chips, which count with them, one by one or in pairs.
//
// HIP has types and functions with these names, but its pairs consist of bits, not of halves, its products and sums are
// fused, and some functions came late. So a source that asks for halves gets ours.
#pragma once

#define __half MaxHalf
#define half MaxHalf
#define __half2 MaxHalf2
#define half2 MaxHalf2
// Functions that take no half.
#define __float2half maxFloat2half
#define __float2half_rn maxFloat2halfRn
#define __int2half_rn maxInt2half
#define __double2half maxDouble2half
#define __uint2half_rn maxUint2half
#define __short2half_rn maxShort2half
#define __ushort2half_rn maxUshort2half
#define __ushort_as_half maxUshortAsHalf
#define __short_as_half maxShortAsHalf
#define __floats2half2_rn maxFloats2half2
#define __float2half2_rn maxFloat2half2
#define __float22half2_rn maxFloat22half2

typedef _Float16 maxHalfNative;
typedef _Float16 maxHalfNative2 __attribute__((ext_vector_type(2)));

MAX_HALF_FUNCTION float maxHalfToFloat(unsigned short bits) { return (float)__builtin_bit_cast(maxHalfNative, bits); }
MAX_HALF_FUNCTION unsigned short maxFloatToHalf(float x) {
  return __builtin_bit_cast(unsigned short, (maxHalfNative)x);
}
MAX_HALF_FUNCTION unsigned short maxHalfOfDouble(double x) {
  return __builtin_bit_cast(unsigned short, (maxHalfNative)x);
}

// With one number, and with two in a word.
#define MAX_HALF_NATIVE(name, Word, Native, op)                                                    \
  MAX_HALF_FUNCTION Word name(Word a, Word b) {                                                    \
    _Pragma("clang fp contract(off)");                                                             \
    const Native x = __builtin_bit_cast(Native, a), y = __builtin_bit_cast(Native, b), z = x op y; \
    return __builtin_bit_cast(Word, z);                                                            \
  }
MAX_HALF_NATIVE(maxHalfAdd, unsigned short, maxHalfNative, +)
MAX_HALF_NATIVE(maxHalfSub, unsigned short, maxHalfNative, -)
MAX_HALF_NATIVE(maxHalfMul, unsigned short, maxHalfNative, *)
MAX_HALF_NATIVE(maxHalfAdd2, unsigned, maxHalfNative2, +)
MAX_HALF_NATIVE(maxHalfSub2, unsigned, maxHalfNative2, -)
MAX_HALF_NATIVE(maxHalfMul2, unsigned, maxHalfNative2, *)
#define MAX_HALF_NATIVE_FMA(name, Word, Native, function)                                                      \
  MAX_HALF_FUNCTION Word name(Word a, Word b, Word c) {                                                        \
    const Native result =                                                                                      \
        function(__builtin_bit_cast(Native, a), __builtin_bit_cast(Native, b), __builtin_bit_cast(Native, c)); \
    return __builtin_bit_cast(Word, result);                                                                   \
  }
MAX_HALF_NATIVE_FMA(maxHalfFma, unsigned short, maxHalfNative, __ocml_fma_f16)
MAX_HALF_NATIVE_FMA(maxHalfFma2, unsigned, maxHalfNative2, __ocml_fma_2f16)
#undef MAX_HALF_NATIVE
#undef MAX_HALF_NATIVE_FMA
