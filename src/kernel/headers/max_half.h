// SPDX-License-Identifier: Apache-2.0
// __half and __nv_bfloat16 for kernels of all compilers, with CUDA's names. Every operation
// rounds its exact result once, to the nearest number, of two the even one; the arithmetic is in max_half_arithmetic.h.
#pragma once
#if defined(MAX_KERNEL_ON_CPU)
#pragma GCC system_header
#endif

#include "max_half_arithmetic.h"

#define MAX_HALF_OPERATOR(Type, op, name, function)                                          \
  MAX_HALF_FUNCTION Type name(Type a, Type b) { return Type::of(function(a.bits, b.bits)); } \
  MAX_HALF_FUNCTION Type operator op(const Type& a, const Type& b) { return name(a, b); }    \
  MAX_HALF_FUNCTION Type& operator op##=(Type& a, const Type& b) { return a = name(a, b); }
#define MAX_HALF_COMPARISON(Type, name, op)                                                         \
  MAX_HALF_FUNCTION bool operator op(const Type& a, const Type& b) { return (float)a op(float) b; } \
  MAX_HALF_FUNCTION bool name(Type a, Type b) { return (float)a op(float) b; }

// A 16-bit type with CUDA's operators and functions.
#define MAX_HALF_TYPE(Type, prefix, toFloat, toBits)                                                              \
  struct alignas(2) Type {                                                                                        \
    unsigned short bits;                                                                                          \
    Type() = default;                                                                                             \
    inline __device__ Type(float x) : bits(toBits(x)) {}                                                          \
    inline __device__ Type(double x) : bits(prefix##OfDouble(x)) {}                                               \
    inline __device__ Type(int x) : bits(prefix##OfInteger(x)) {}                                                 \
    inline __device__ Type(unsigned x) : bits(prefix##OfInteger(x)) {}                                            \
    inline __device__ Type(long x) : bits(prefix##OfInteger(x)) {}                                                \
    inline __device__ Type(unsigned long x) : bits(prefix##OfInteger(x)) {}                                       \
    inline __device__ Type(long long x) : bits(prefix##OfInteger(x)) {}                                           \
    inline __device__ Type(unsigned long long x) : bits(prefix##OfInteger(x)) {}                                  \
    inline __device__ operator float() const { return toFloat(bits); }                                            \
    static inline __device__ Type of(unsigned short bits) {                                                       \
      Type x;                                                                                                     \
      x.bits = bits;                                                                                              \
      return x;                                                                                                   \
    }                                                                                                             \
  };                                                                                                              \
  MAX_HALF_OPERATOR(Type, +, __hadd, prefix##Add)                                                                 \
  MAX_HALF_OPERATOR(Type, -, __hsub, prefix##Sub)                                                                 \
  MAX_HALF_OPERATOR(Type, *, __hmul, prefix##Mul)                                                                 \
  MAX_HALF_OPERATOR(Type, /, __hdiv, prefix##Div)                                                                 \
  MAX_HALF_COMPARISON(Type, __heq, ==)                                                                            \
  MAX_HALF_COMPARISON(Type, __hne, !=)                                                                            \
  MAX_HALF_COMPARISON(Type, __hlt, <)                                                                             \
  MAX_HALF_COMPARISON(Type, __hle, <=)                                                                            \
  MAX_HALF_COMPARISON(Type, __hgt, >)                                                                             \
  MAX_HALF_COMPARISON(Type, __hge, >=)                                                                            \
  MAX_HALF_FUNCTION Type operator-(const Type& a) { return Type::of((unsigned short)(a.bits ^ 0x8000u)); }        \
  MAX_HALF_FUNCTION Type __hneg(Type a) { return -a; }                                                            \
  MAX_HALF_FUNCTION Type __habs(Type a) { return Type::of((unsigned short)(a.bits & 0x7fffu)); }                  \
  MAX_HALF_FUNCTION Type __hfma(Type a, Type b, Type c) { return Type::of(prefix##Fma(a.bits, b.bits, c.bits)); } \
  MAX_HALF_FUNCTION Type __hmax(Type a, Type b) { return Type::of(prefix##Max(a.bits, b.bits)); }                 \
  MAX_HALF_FUNCTION Type __hmin(Type a, Type b) { return Type::of(prefix##Min(a.bits, b.bits)); }                 \
  MAX_HALF_FUNCTION bool __hisnan(Type a) { return (a.bits & 0x7fffu) > prefix##Infinity; }                       \
  MAX_HALF_FUNCTION int __hisinf(Type a) {                                                                        \
    return (a.bits & 0x7fffu) != prefix##Infinity ? 0 : a.bits == prefix##Infinity ? 1 : -1;                      \
  }                                                                                                               \
  MAX_HALF_FUNCTION Type hexp2(Type a) { return Type(exp2f((float)a)); }                                          \
  MAX_HALF_FUNCTION Type hlog2(Type a) { return Type(log2f((float)a)); }                                          \
  MAX_HALF_FUNCTION Type htrunc(Type a) { return Type(truncf((float)a)); }                                        \
  MAX_HALF_FUNCTION Type hrint(Type a) { return Type(rintf((float)a)); }                                          \
  MAX_HALF_FUNCTION Type hsqrt(Type a) { return Type(sqrtf((float)a)); }                                          \
  MAX_HALF_FUNCTION Type hrsqrt(Type a) { return Type(1.0f / sqrtf((float)a)); }                                  \
  MAX_HALF_FUNCTION Type hrcp(Type a) { return Type(1.0f / (float)a); }                                           \
  MAX_HALF_FUNCTION Type hexp(Type a) { return Type(expf((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hlog(Type a) { return Type(logf((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hsin(Type a) { return Type(sinf((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hcos(Type a) { return Type(cosf((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hfloor(Type a) { return Type(floorf((float)a)); }                                        \
  MAX_HALF_FUNCTION Type hceil(Type a) { return Type(ceilf((float)a)); }

// Two of them.
#define MAX_HALF_PAIR_OPERATOR(Pair, op, name)                              \
  MAX_HALF_FUNCTION Pair operator op(Pair a, Pair b) { return name(a, b); } \
  MAX_HALF_FUNCTION Pair& operator op##=(Pair& a, Pair b) { return a = name(a, b); }
#define MAX_HALF_PAIR_FUNCTION(Pair, name, function) \
  MAX_HALF_FUNCTION Pair name(Pair a) { return Pair(function(a.x), function(a.y)); }
#define MAX_HALF_PAIR(Pair, Type, prefix)                                               \
  struct alignas(4) Pair {                                                              \
    Type x, y;                                                                          \
    Pair() = default;                                                                   \
    inline __device__ Pair(Type first, Type second) : x(first), y(second) {}            \
  };                                                                                    \
  MAX_HALF_PAIR_ARITHMETIC(Pair, prefix)                                                \
  MAX_HALF_FUNCTION Pair __h2div(Pair a, Pair b) { return Pair(a.x / b.x, a.y / b.y); } \
  MAX_HALF_PAIR_OPERATOR(Pair, +, __hadd2)                                              \
  MAX_HALF_PAIR_OPERATOR(Pair, -, __hsub2)                                              \
  MAX_HALF_PAIR_OPERATOR(Pair, *, __hmul2)                                              \
  MAX_HALF_PAIR_OPERATOR(Pair, /, __h2div)                                              \
  MAX_HALF_FUNCTION Pair operator-(Pair a) { return Pair(-a.x, -a.y); }                 \
  MAX_HALF_PAIR_FUNCTION(Pair, __hneg2, __hneg)                                         \
  MAX_HALF_PAIR_FUNCTION(Pair, __habs2, __habs)                                         \
  MAX_HALF_PAIR_FUNCTION(Pair, h2sqrt, hsqrt)                                           \
  MAX_HALF_PAIR_FUNCTION(Pair, h2rsqrt, hrsqrt)                                         \
  MAX_HALF_PAIR_FUNCTION(Pair, h2rcp, hrcp)                                             \
  MAX_HALF_PAIR_FUNCTION(Pair, h2exp, hexp)                                             \
  MAX_HALF_PAIR_FUNCTION(Pair, h2log, hlog)                                             \
  MAX_HALF_FUNCTION float __low2float(Pair a) { return (float)a.x; }                    \
  MAX_HALF_FUNCTION float __high2float(Pair a) { return (float)a.y; }

MAX_HALF_TYPE(__half, maxHalf, maxHalfToFloat, maxFloatToHalf)
MAX_HALF_PAIR(__half2, __half, maxHalf)
typedef __half half;
typedef __half2 half2;

MAX_HALF_FUNCTION __half __float2half(float x) { return __half(x); }
MAX_HALF_FUNCTION __half __float2half_rn(float x) { return __half(x); }
MAX_HALF_FUNCTION float __half2float(__half x) { return x; }
MAX_HALF_FUNCTION __half __int2half_rn(int x) { return __half(x); }
MAX_HALF_FUNCTION int __half2int_rz(__half x) { return __float2int_rz((float)x); }
MAX_HALF_FUNCTION __half __double2half(double x) { return __half(x); }
MAX_HALF_FUNCTION __half __uint2half_rn(unsigned x) { return __half(x); }
MAX_HALF_FUNCTION __half __short2half_rn(short x) { return __half((float)x); }
MAX_HALF_FUNCTION __half __ushort2half_rn(unsigned short x) { return __half((float)x); }
MAX_HALF_FUNCTION int __half2int_rn(__half x) { return __float2int_rn((float)x); }
MAX_HALF_FUNCTION unsigned __half2uint_rz(__half x) { return __float2uint_rz((float)x); }
MAX_HALF_FUNCTION unsigned __half2uint_rn(__half x) { return __float2uint_rn((float)x); }
MAX_HALF_FUNCTION short __half_as_short(__half x) { return (short)x.bits; }
MAX_HALF_FUNCTION unsigned short __half_as_ushort(__half x) { return x.bits; }
MAX_HALF_FUNCTION __half __ushort_as_half(unsigned short bits) { return __half::of(bits); }
MAX_HALF_FUNCTION __half __short_as_half(short bits) { return __ushort_as_half((unsigned short)bits); }
MAX_HALF_FUNCTION __half2 __floats2half2_rn(float x, float y) {
  return MAX_HALF_PAIR_OF(__half2, __half, maxHalf, x, y);
}
MAX_HALF_FUNCTION __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
MAX_HALF_FUNCTION __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
MAX_HALF_FUNCTION __half2 __half2half2(__half x) { return __half2(x, x); }
MAX_HALF_FUNCTION __half __low2half(__half2 x) { return x.x; }
MAX_HALF_FUNCTION __half __high2half(__half2 x) { return x.y; }
MAX_HALF_FUNCTION __half2 __low2half2(__half2 x) { return __half2(x.x, x.x); }
MAX_HALF_FUNCTION __half2 __high2half2(__half2 x) { return __half2(x.y, x.y); }
MAX_HALF_FUNCTION __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
MAX_HALF_FUNCTION __half2 make_half2(__half x, __half y) { return __half2(x, y); }
MAX_HALF_FUNCTION float2 __half22float2(__half2 x) { return make_float2((float)x.x, (float)x.y); }
MAX_HALF_FUNCTION __half2 __float22half2_rn(float2 x) { return __floats2half2_rn(x.x, x.y); }

MAX_HALF_TYPE(__nv_bfloat16, maxBfloat, maxBfloatToFloat, maxFloatToBfloat)
MAX_HALF_PAIR(__nv_bfloat162, __nv_bfloat16, maxBfloat)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

MAX_HALF_FUNCTION __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION float __bfloat162float(__nv_bfloat16 x) { return x; }
MAX_HALF_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
MAX_HALF_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::of(bits); }
MAX_HALF_FUNCTION __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return MAX_HALF_PAIR_OF(__nv_bfloat162, __nv_bfloat16, maxBfloat, x, y);
}

MAX_HALF_FUNCTION __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION __nv_bfloat162 __float2bfloat162_rn(float x) { return __floats2bfloat162_rn(x, x); }
MAX_HALF_FUNCTION __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MAX_HALF_FUNCTION __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
MAX_HALF_FUNCTION __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MAX_HALF_FUNCTION __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
MAX_HALF_FUNCTION __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
MAX_HALF_FUNCTION float2 __bfloat1622float2(__nv_bfloat162 x) { return make_float2((float)x.x, (float)x.y); }
MAX_HALF_FUNCTION __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __floats2bfloat162_rn(x.x, x.y); }

// CUDA's functions support the built-in types.
#if defined(__CUDACC_RTC__)
#define MAX_HALF_LOAD(Type, Word)                     \
  MAX_HALF_FUNCTION Type __ldg(const Type* address) { \
    const Word word = __ldg((const Word*)address);    \
    Type value;                                       \
    memcpy(&value, &word, sizeof value);              \
    return value;                                     \
  }
MAX_HALF_LOAD(__half, unsigned short)
MAX_HALF_LOAD(__half2, unsigned)
MAX_HALF_LOAD(__nv_bfloat16, unsigned short)
MAX_HALF_LOAD(__nv_bfloat162, unsigned)
#undef MAX_HALF_LOAD
#define MAX_HALF_SHUFFLE(Type, Word, name, Count)                                       \
  MAX_HALF_FUNCTION Type name(unsigned mask, Type value, Count count, int width = 32) { \
    Word word;                                                                          \
    memcpy(&word, &value, sizeof value);                                                \
    word = (Word)name(mask, (unsigned)word, count, width);                              \
    memcpy(&value, &word, sizeof value);                                                \
    return value;                                                                       \
  }
#define MAX_HALF_SHUFFLES(Type, Word)                      \
  MAX_HALF_SHUFFLE(Type, Word, __shfl_sync, int)           \
  MAX_HALF_SHUFFLE(Type, Word, __shfl_up_sync, unsigned)   \
  MAX_HALF_SHUFFLE(Type, Word, __shfl_down_sync, unsigned) \
  MAX_HALF_SHUFFLE(Type, Word, __shfl_xor_sync, int)
MAX_HALF_SHUFFLES(__half, unsigned short)
MAX_HALF_SHUFFLES(__half2, unsigned)
MAX_HALF_SHUFFLES(__nv_bfloat16, unsigned short)
MAX_HALF_SHUFFLES(__nv_bfloat162, unsigned)
#undef MAX_HALF_SHUFFLES
#undef MAX_HALF_SHUFFLE
#elif defined(MAX_HIP_SHUFFLES)
#define MAX_HALF_LOAD(Type)                                              \
  MAX_HALF_FUNCTION Type __ldg(const Type* address) { return *address; } \
  MAX_HIP_SHUFFLES(Type)
MAX_HALF_LOAD(__half)
MAX_HALF_LOAD(__half2)
MAX_HALF_LOAD(__nv_bfloat16)
MAX_HALF_LOAD(__nv_bfloat162)
#undef MAX_HALF_LOAD
#endif

#undef MAX_HALF_PAIR_OF
#undef MAX_HALF_PAIR_ARITHMETIC
#undef MAX_HALF_PAIR_OPERATOR
#undef MAX_HALF_PAIR_FUNCTION
#undef MAX_HALF_PAIR
#undef MAX_HALF_TYPE
#undef MAX_HALF_COMPARISON
#undef MAX_HALF_OPERATOR
#undef MAX_HALF_FUNCTION
