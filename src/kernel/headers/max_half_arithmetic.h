// SPDX-License-Identifier: Apache-2.0
// Conversions and arithmetic of max_half.h, on the bits of numbers: the chip's own where it has them, otherwise in
// float.
#pragma once
#if defined(MAX_KERNEL_ON_CPU)
#pragma GCC system_header
#endif

#define MAX_HALF_FUNCTION static inline __device__

#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
MAX_HALF_FUNCTION unsigned maxFloatBits(float x) { return __float_as_uint(x); }
MAX_HALF_FUNCTION float maxFloatOfBits(unsigned bits) { return __uint_as_float(bits); }
#else
MAX_HALF_FUNCTION unsigned maxFloatBits(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
MAX_HALF_FUNCTION float maxFloatOfBits(unsigned bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
#endif

#if defined(__CUDACC_RTC__)
MAX_HALF_FUNCTION float maxHalfToFloat(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
MAX_HALF_FUNCTION unsigned short maxFloatToHalf(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#elif defined(__HIPCC_RTC__)
#include "max_half_hip.h"
#else
MAX_HALF_FUNCTION float maxHalfToFloat(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  if (rest < 0x400u) return maxFloatOfBits(maxFloatBits((float)rest * 0x1p-24f) | sign);
  return maxFloatOfBits(sign | (rest >= 0x7c00u ? 0x7f800000u | rest << 13 : (rest << 13) + 0x38000000u));
}
MAX_HALF_FUNCTION unsigned short maxFloatToHalf(float x) {
  const unsigned bits = maxFloatBits(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return (unsigned short)0x7fffu;            // NaN
  if (rest >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);  // too large
  if (rest >= 0x38800000u) return (unsigned short)(sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13));
  // Adding one half leaves the multiple of 2^-24 in the lowest bits, rounded to even.
  return (unsigned short)(sign | (maxFloatBits(maxFloatOfBits(rest) + 0.5f) - 0x3f000000u));
}
#endif

MAX_HALF_FUNCTION float maxBfloatToFloat(unsigned short bits) { return maxFloatOfBits((unsigned)bits << 16); }
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
MAX_HALF_FUNCTION unsigned short maxFloatToBfloat(float x) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#else
MAX_HALF_FUNCTION unsigned short maxFloatToBfloat(float x) {
  const unsigned bits = maxFloatBits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fffu;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
#endif

// What is rounded to float and then to fewer bits must not be rounded to the middle of two of those. So what a float
// cannot hold becomes one whose last bit is 1. `rest` = what x lacks, if x itself is rounded.
MAX_HALF_FUNCTION float maxOddFloat(double x, double rest) {
  const float near = (float)x;
  const double difference = x - (double)near, lost = difference != 0 ? difference : rest;
  unsigned bits = maxFloatBits(near);
  if ((lost > 0 || lost < 0) && !(bits & 1u)) bits += (lost > 0) == !(bits >> 31) ? 1u : 0xffffffffu;
  return maxFloatOfBits(bits);
}
// a * b + c. A Wide holds the product of two numbers exactly: a float for halves, a double for bfloats.
#if defined(__CUDACC_RTC__)
template <class Wide>
MAX_HALF_FUNCTION float maxOddFma(float a, float b, float c) {
  const bool isExact = __fmaf_rd(a, b, c) == __fmaf_ru(a, b, c);
  return maxFloatOfBits(maxFloatBits(__fmaf_rz(a, b, c)) | !isExact);
}
#else
template <class Wide>
MAX_HALF_FUNCTION float maxOddFma(float a, float b, float c) {
  const Wide product = (Wide)a * (Wide)b, sum = product + (Wide)c, part = sum - product;
  return maxOddFloat((double)sum, (double)((product - (sum - part)) + ((Wide)c - part)));
}
#endif

// The larger or the smaller number; the other one if one is NaN. -0 is less than 0.
MAX_HALF_FUNCTION int maxHalfOrder(unsigned short bits) {
  return bits & 0x8000u ? -(int)(bits & 0x7fffu) - 1 : (int)bits;
}
MAX_HALF_FUNCTION unsigned short maxHalfPick(unsigned short a, unsigned short b, bool takesA, unsigned infinity) {
  const bool isNanA = (a & 0x7fffu) > infinity, isNanB = (b & 0x7fffu) > infinity;
  if (isNanA && isNanB) return (unsigned short)0x7fffu;
  return isNanB || (!isNanA && takesA) ? a : b;
}

// A type's functions: in float, which is exact enough to be rounded again.
#define MAX_HALF_FLOAT_OPERATION(name, toFloat, toBits, op) \
  MAX_HALF_FUNCTION unsigned short name(unsigned short a, unsigned short b) { return toBits(toFloat(a) op toFloat(b)); }
#define MAX_HALF_FLOAT_FMA(prefix, Wide, toFloat, toBits)                                              \
  MAX_HALF_FUNCTION unsigned short prefix##Fma(unsigned short a, unsigned short b, unsigned short c) { \
    return toBits(maxOddFma<Wide>(toFloat(a), toFloat(b), toFloat(c)));                                \
  }
#define MAX_HALF_FLOAT_ORDER(prefix)                                                 \
  MAX_HALF_FUNCTION unsigned short prefix##Max(unsigned short a, unsigned short b) { \
    return maxHalfPick(a, b, maxHalfOrder(a) >= maxHalfOrder(b), prefix##Infinity);  \
  }                                                                                  \
  MAX_HALF_FUNCTION unsigned short prefix##Min(unsigned short a, unsigned short b) { \
    return maxHalfPick(a, b, maxHalfOrder(a) <= maxHalfOrder(b), prefix##Infinity);  \
  }
// Two numbers in a word.
#define MAX_HALF_TWICE(name)                                                           \
  MAX_HALF_FUNCTION unsigned name##2(unsigned a, unsigned b) {                         \
    return name((unsigned short)a, (unsigned short)b) |                                \
           (unsigned)name((unsigned short)(a >> 16), (unsigned short)(b >> 16)) << 16; \
  }
#define MAX_HALF_FMA_TWICE(name)                                                                                  \
  MAX_HALF_FUNCTION unsigned name##2(unsigned a, unsigned b, unsigned c) {                                        \
    return name((unsigned short)a, (unsigned short)b, (unsigned short)c) |                                        \
           (unsigned)name((unsigned short)(a >> 16), (unsigned short)(b >> 16), (unsigned short)(c >> 16)) << 16; \
  }
// An instruction, and the one for two numbers.
#define MAX_HALF_ASM(name, op, type)                                          \
  MAX_HALF_FUNCTION unsigned short name(unsigned short a, unsigned short b) { \
    unsigned short result;                                                    \
    asm(op "." type " %0, %1, %2;" : "=h"(result) : "h"(a), "h"(b));          \
    return result;                                                            \
  }                                                                           \
  MAX_HALF_FUNCTION unsigned name##2(unsigned a, unsigned b) {                \
    unsigned result;                                                          \
    asm(op "." type "x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));        \
    return result;                                                            \
  }
#define MAX_HALF_ASM_FMA(name, type)                                                            \
  MAX_HALF_FUNCTION unsigned short name(unsigned short a, unsigned short b, unsigned short c) { \
    unsigned short result;                                                                      \
    asm("fma.rn." type " %0, %1, %2, %3;" : "=h"(result) : "h"(a), "h"(b), "h"(c));             \
    return result;                                                                              \
  }                                                                                             \
  MAX_HALF_FUNCTION unsigned name##2(unsigned a, unsigned b, unsigned c) {                      \
    unsigned result;                                                                            \
    asm("fma.rn." type "x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));           \
    return result;                                                                              \
  }

enum : unsigned { maxHalfInfinity = 0x7c00u, maxBfloatInfinity = 0x7f80u };

template <class Integer>
MAX_HALF_FUNCTION unsigned short maxHalfOfInteger(Integer x) {
  return maxFloatToHalf((float)x);  // which holds all that are not too large for a half
}
MAX_HALF_FLOAT_OPERATION(maxHalfDiv, maxHalfToFloat, maxFloatToHalf, /)
#if defined(__CUDACC_RTC__)
MAX_HALF_FUNCTION unsigned short maxHalfOfDouble(double x) {
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
  return bits;
}
#elif !defined(__HIPCC_RTC__)
MAX_HALF_FUNCTION unsigned short maxHalfOfDouble(double x) { return maxFloatToHalf(maxOddFloat(x, 0)); }
#endif
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 530
MAX_HALF_ASM(maxHalfAdd, "add.rn", "f16")
MAX_HALF_ASM(maxHalfSub, "sub.rn", "f16")
MAX_HALF_ASM(maxHalfMul, "mul.rn", "f16")
MAX_HALF_ASM_FMA(maxHalfFma, "f16")
#elif !defined(__HIPCC_RTC__)
MAX_HALF_FLOAT_OPERATION(maxHalfAdd, maxHalfToFloat, maxFloatToHalf, +)
MAX_HALF_FLOAT_OPERATION(maxHalfSub, maxHalfToFloat, maxFloatToHalf, -)
MAX_HALF_FLOAT_OPERATION(maxHalfMul, maxHalfToFloat, maxFloatToHalf, *)
MAX_HALF_FLOAT_FMA(maxHalf, float, maxHalfToFloat, maxFloatToHalf)
MAX_HALF_TWICE(maxHalfAdd)
MAX_HALF_TWICE(maxHalfSub)
MAX_HALF_TWICE(maxHalfMul)
MAX_HALF_FMA_TWICE(maxHalfFma)
#endif

MAX_HALF_FLOAT_OPERATION(maxBfloatDiv, maxBfloatToFloat, maxFloatToBfloat, /)
MAX_HALF_FUNCTION unsigned short maxBfloatOfDouble(double x) { return maxFloatToBfloat(maxOddFloat(x, 0)); }
template <class Integer>
MAX_HALF_FUNCTION unsigned short maxBfloatOfInteger(Integer x) {
  return maxBfloatOfDouble((double)x);
}
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
MAX_HALF_ASM(maxBfloatAdd, "add.rn", "bf16")
MAX_HALF_ASM(maxBfloatSub, "sub.rn", "bf16")
MAX_HALF_ASM(maxBfloatMul, "mul.rn", "bf16")
MAX_HALF_ASM_FMA(maxBfloatFma, "bf16")
#elif defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
// a * 1 + b, b * -1 + a, a * b + -0.
MAX_HALF_ASM_FMA(maxBfloatFma, "bf16")
#define MAX_HALF_BY_FMA(name, Word, a, b, c) \
  MAX_HALF_FUNCTION Word name(Word x, Word y) { return maxBfloatFma(a, b, c); }
#define MAX_HALF_BY_FMA2(name, a, b, c) \
  MAX_HALF_FUNCTION unsigned name(unsigned x, unsigned y) { return maxBfloatFma2(a, b, c); }
MAX_HALF_BY_FMA(maxBfloatAdd, unsigned short, x, (unsigned short)0x3f80u, y)
MAX_HALF_BY_FMA(maxBfloatSub, unsigned short, y, (unsigned short)0xbf80u, x)
MAX_HALF_BY_FMA(maxBfloatMul, unsigned short, x, y, (unsigned short)0x8000u)
MAX_HALF_BY_FMA2(maxBfloatAdd2, x, 0x3f803f80u, y)
MAX_HALF_BY_FMA2(maxBfloatSub2, y, 0xbf80bf80u, x)
MAX_HALF_BY_FMA2(maxBfloatMul2, x, y, 0x80008000u)
#undef MAX_HALF_BY_FMA
#undef MAX_HALF_BY_FMA2
#else
MAX_HALF_FLOAT_OPERATION(maxBfloatAdd, maxBfloatToFloat, maxFloatToBfloat, +)
MAX_HALF_FLOAT_OPERATION(maxBfloatSub, maxBfloatToFloat, maxFloatToBfloat, -)
MAX_HALF_FLOAT_OPERATION(maxBfloatMul, maxBfloatToFloat, maxFloatToBfloat, *)
MAX_HALF_FLOAT_FMA(maxBfloat, double, maxBfloatToFloat, maxFloatToBfloat)
MAX_HALF_TWICE(maxBfloatAdd)
MAX_HALF_TWICE(maxBfloatSub)
MAX_HALF_TWICE(maxBfloatMul)
MAX_HALF_FMA_TWICE(maxBfloatFma)
#endif

#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
MAX_HALF_ASM(maxHalfMax, "max", "f16")
MAX_HALF_ASM(maxHalfMin, "min", "f16")
MAX_HALF_ASM(maxBfloatMax, "max", "bf16")
MAX_HALF_ASM(maxBfloatMin, "min", "bf16")
#else
MAX_HALF_FLOAT_ORDER(maxHalf)
MAX_HALF_FLOAT_ORDER(maxBfloat)
MAX_HALF_TWICE(maxHalfMax)
MAX_HALF_TWICE(maxHalfMin)
MAX_HALF_TWICE(maxBfloatMax)
MAX_HALF_TWICE(maxBfloatMin)
#endif

// Pairs: in words where the chip counts with two at a time; on the host one after the other, which compilers find
// easier to vectorise.
#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
template <class Pair>
MAX_HALF_FUNCTION unsigned maxWordOf(Pair pair) {
  return (unsigned)pair.x.bits | (unsigned)pair.y.bits << 16;
}
template <class Pair>
MAX_HALF_FUNCTION Pair maxPairOf(unsigned word) {
  Pair pair;
  pair.x.bits = (unsigned short)word;
  pair.y.bits = (unsigned short)(word >> 16);
  return pair;
}
#define MAX_HALF_PAIR_OPERATION(Pair, name, function) \
  MAX_HALF_FUNCTION Pair name(Pair a, Pair b) { return maxPairOf<Pair>(function##2(maxWordOf(a), maxWordOf(b))); }
#define MAX_HALF_PAIR_FMA(Pair, function)                                          \
  MAX_HALF_FUNCTION Pair __hfma2(Pair a, Pair b, Pair c) {                         \
    return maxPairOf<Pair>(function##2(maxWordOf(a), maxWordOf(b), maxWordOf(c))); \
  }
#else
#define MAX_HALF_PAIR_OPERATION(Pair, name, function) \
  MAX_HALF_FUNCTION Pair name(Pair a, Pair b) {       \
    a.x.bits = function(a.x.bits, b.x.bits);          \
    a.y.bits = function(a.y.bits, b.y.bits);          \
    return a;                                         \
  }
#define MAX_HALF_PAIR_FMA(Pair, function)                  \
  MAX_HALF_FUNCTION Pair __hfma2(Pair a, Pair b, Pair c) { \
    a.x.bits = function(a.x.bits, b.x.bits, c.x.bits);     \
    a.y.bits = function(a.y.bits, b.y.bits, c.y.bits);     \
    return a;                                              \
  }
#endif
#define MAX_HALF_PAIR_ARITHMETIC(Pair, prefix)        \
  MAX_HALF_PAIR_OPERATION(Pair, __hadd2, prefix##Add) \
  MAX_HALF_PAIR_OPERATION(Pair, __hsub2, prefix##Sub) \
  MAX_HALF_PAIR_OPERATION(Pair, __hmul2, prefix##Mul) \
  MAX_HALF_PAIR_OPERATION(Pair, __hmax2, prefix##Max) \
  MAX_HALF_PAIR_OPERATION(Pair, __hmin2, prefix##Min) \
  MAX_HALF_PAIR_FMA(Pair, prefix##Fma)

// Two floats, rounded.
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
#define MAX_HALF_ASM_OF_FLOATS(name, type)                                  \
  MAX_HALF_FUNCTION unsigned name(float x, float y) {                       \
    unsigned word;                                                          \
    asm("cvt.rn." type "x2.f32 %0, %1, %2;" : "=r"(word) : "f"(y), "f"(x)); \
    return word;                                                            \
  }
MAX_HALF_ASM_OF_FLOATS(maxHalfOfFloats, "f16")
MAX_HALF_ASM_OF_FLOATS(maxBfloatOfFloats, "bf16")
#undef MAX_HALF_ASM_OF_FLOATS
#define MAX_HALF_PAIR_OF(Pair, Type, prefix, x, y) maxPairOf<Pair>(prefix##OfFloats(x, y))
#else
#define MAX_HALF_PAIR_OF(Pair, Type, prefix, x, y) Pair(Type(x), Type(y))
#endif

#undef MAX_HALF_FLOAT_OPERATION
#undef MAX_HALF_FLOAT_FMA
#undef MAX_HALF_FLOAT_ORDER
#undef MAX_HALF_TWICE
#undef MAX_HALF_FMA_TWICE
#undef MAX_HALF_ASM
#undef MAX_HALF_ASM_FMA
