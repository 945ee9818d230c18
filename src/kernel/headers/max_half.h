// SPDX-License-Identifier: Apache-2.0
// __half and __nv_bfloat16 for kernels of all compilers, with CUDA's names; HIP brings its own __half. Arithmetic is
// done in float and rounded after each operation, which matches the hardware instructions (__hfma rounds twice and may
// differ in the last bit).
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
#elif !defined(__HIPCC_RTC__)
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
MAX_HALF_FUNCTION unsigned short maxFloatToBfloat(float x) {
  const unsigned bits = maxFloatBits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fffu;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#define MAX_HALF_OPERATOR(Type, op)                                                                       \
  MAX_HALF_FUNCTION Type operator op(const Type& a, const Type& b) { return Type((float)a op(float) b); } \
  MAX_HALF_FUNCTION Type& operator op##=(Type& a, const Type& b) { return a = a op b; }
#define MAX_HALF_COMPARISON(Type, name, op)                                                         \
  MAX_HALF_FUNCTION bool operator op(const Type& a, const Type& b) { return (float)a op(float) b; } \
  MAX_HALF_FUNCTION bool name(Type a, Type b) { return (float)a op(float) b; }

// A 16-bit type with CUDA's operators and functions.
#define MAX_HALF_TYPE(Type, toFloat, toBits)                                                                        \
  struct alignas(2) Type {                                                                                          \
    unsigned short bits;                                                                                            \
    Type() = default;                                                                                               \
    inline __device__ Type(float x) : bits(toBits(x)) {}                                                            \
    inline __device__ Type(double x) : bits(toBits((float)x)) {}                                                    \
    inline __device__ Type(int x) : bits(toBits((float)x)) {}                                                       \
    inline __device__ Type(unsigned x) : bits(toBits((float)x)) {}                                                  \
    inline __device__ Type(long x) : bits(toBits((float)x)) {}                                                      \
    inline __device__ Type(unsigned long x) : bits(toBits((float)x)) {}                                             \
    inline __device__ Type(long long x) : bits(toBits((float)x)) {}                                                 \
    inline __device__ Type(unsigned long long x) : bits(toBits((float)x)) {}                                        \
    inline __device__ operator float() const { return toFloat(bits); }                                              \
  };                                                                                                                \
  MAX_HALF_OPERATOR(Type, +)                                                                                        \
  MAX_HALF_OPERATOR(Type, -)                                                                                        \
  MAX_HALF_OPERATOR(Type, *)                                                                                        \
  MAX_HALF_OPERATOR(Type, /)                                                                                        \
  MAX_HALF_COMPARISON(Type, __heq, ==)                                                                              \
  MAX_HALF_COMPARISON(Type, __hne, !=)                                                                              \
  MAX_HALF_COMPARISON(Type, __hlt, <)                                                                               \
  MAX_HALF_COMPARISON(Type, __hle, <=)                                                                              \
  MAX_HALF_COMPARISON(Type, __hgt, >)                                                                               \
  MAX_HALF_COMPARISON(Type, __hge, >=)                                                                              \
  MAX_HALF_FUNCTION Type operator-(const Type& a) {                                                                 \
    Type result = a;                                                                                                \
    result.bits ^= 0x8000u;                                                                                         \
    return result;                                                                                                  \
  }                                                                                                                 \
  MAX_HALF_FUNCTION Type __hneg(Type a) { return -a; }                                                              \
  MAX_HALF_FUNCTION Type __habs(Type a) {                                                                           \
    a.bits &= 0x7fffu;                                                                                              \
    return a;                                                                                                       \
  }                                                                                                                 \
  MAX_HALF_FUNCTION Type __hadd(Type a, Type b) { return a + b; }                                                   \
  MAX_HALF_FUNCTION Type __hsub(Type a, Type b) { return a - b; }                                                   \
  MAX_HALF_FUNCTION Type __hmul(Type a, Type b) { return a * b; }                                                   \
  MAX_HALF_FUNCTION Type __hdiv(Type a, Type b) { return a / b; }                                                   \
  MAX_HALF_FUNCTION Type __hfma(Type a, Type b, Type c) { return Type(fmaf((float)a, (float)b, (float)c)); }        \
  MAX_HALF_FUNCTION Type __hmax(Type a, Type b) { return Type(fmaxf((float)a, (float)b)); }                         \
  MAX_HALF_FUNCTION Type __hmin(Type a, Type b) { return Type(fminf((float)a, (float)b)); }                         \
  MAX_HALF_FUNCTION bool __hisnan(Type a) { return (a.bits & 0x7fffu) > (Type(maxFloatOfBits(0x7f800000u)).bits); } \
  MAX_HALF_FUNCTION int __hisinf(Type a) {                                                                          \
    const unsigned short infinite = Type(maxFloatOfBits(0x7f800000u)).bits;                                         \
    return (a.bits & 0x7fffu) != infinite ? 0 : a.bits == infinite ? 1 : -1;                                        \
  }                                                                                                                 \
  MAX_HALF_FUNCTION Type hexp2(Type a) { return Type(exp2f((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hlog2(Type a) { return Type(log2f((float)a)); }                                            \
  MAX_HALF_FUNCTION Type htrunc(Type a) { return Type(truncf((float)a)); }                                          \
  MAX_HALF_FUNCTION Type hrint(Type a) { return Type(rintf((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hsqrt(Type a) { return Type(sqrtf((float)a)); }                                            \
  MAX_HALF_FUNCTION Type hrsqrt(Type a) { return Type(1.0f / sqrtf((float)a)); }                                    \
  MAX_HALF_FUNCTION Type hrcp(Type a) { return Type(1.0f / (float)a); }                                             \
  MAX_HALF_FUNCTION Type hexp(Type a) { return Type(expf((float)a)); }                                              \
  MAX_HALF_FUNCTION Type hlog(Type a) { return Type(logf((float)a)); }                                              \
  MAX_HALF_FUNCTION Type hsin(Type a) { return Type(sinf((float)a)); }                                              \
  MAX_HALF_FUNCTION Type hcos(Type a) { return Type(cosf((float)a)); }                                              \
  MAX_HALF_FUNCTION Type hfloor(Type a) { return Type(floorf((float)a)); }                                          \
  MAX_HALF_FUNCTION Type hceil(Type a) { return Type(ceilf((float)a)); }

// Two of them.
#define MAX_HALF_PAIR_OPERATOR(Pair, op, name)                                                \
  MAX_HALF_FUNCTION Pair operator op(Pair a, Pair b) { return Pair(a.x op b.x, a.y op b.y); } \
  MAX_HALF_FUNCTION Pair& operator op##=(Pair& a, Pair b) { return a = a op b; }              \
  MAX_HALF_FUNCTION Pair name(Pair a, Pair b) { return a op b; }
#define MAX_HALF_PAIR_FUNCTION(Pair, name, function) \
  MAX_HALF_FUNCTION Pair name(Pair a) { return Pair(function(a.x), function(a.y)); }
#define MAX_HALF_PAIR(Pair, Type)                                                                     \
  struct alignas(4) Pair {                                                                            \
    Type x, y;                                                                                        \
    Pair() = default;                                                                                 \
    inline __device__ Pair(Type first, Type second) : x(first), y(second) {}                          \
  };                                                                                                  \
  MAX_HALF_PAIR_OPERATOR(Pair, +, __hadd2)                                                            \
  MAX_HALF_PAIR_OPERATOR(Pair, -, __hsub2)                                                            \
  MAX_HALF_PAIR_OPERATOR(Pair, *, __hmul2)                                                            \
  MAX_HALF_PAIR_OPERATOR(Pair, /, __h2div)                                                            \
  MAX_HALF_FUNCTION Pair operator-(Pair a) { return Pair(-a.x, -a.y); }                               \
  MAX_HALF_FUNCTION Pair __hfma2(Pair a, Pair b, Pair c) {                                            \
    return Pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                        \
  }                                                                                                   \
  MAX_HALF_FUNCTION Pair __hmax2(Pair a, Pair b) { return Pair(__hmax(a.x, b.x), __hmax(a.y, b.y)); } \
  MAX_HALF_FUNCTION Pair __hmin2(Pair a, Pair b) { return Pair(__hmin(a.x, b.x), __hmin(a.y, b.y)); } \
  MAX_HALF_PAIR_FUNCTION(Pair, __hneg2, __hneg)                                                       \
  MAX_HALF_PAIR_FUNCTION(Pair, __habs2, __habs)                                                       \
  MAX_HALF_PAIR_FUNCTION(Pair, h2sqrt, hsqrt)                                                         \
  MAX_HALF_PAIR_FUNCTION(Pair, h2rsqrt, hrsqrt)                                                       \
  MAX_HALF_PAIR_FUNCTION(Pair, h2rcp, hrcp)                                                           \
  MAX_HALF_PAIR_FUNCTION(Pair, h2exp, hexp)                                                           \
  MAX_HALF_PAIR_FUNCTION(Pair, h2log, hlog)                                                           \
  MAX_HALF_FUNCTION float __low2float(Pair a) { return (float)a.x; }                                  \
  MAX_HALF_FUNCTION float __high2float(Pair a) { return (float)a.y; }

#if !defined(__HIPCC_RTC__)
MAX_HALF_TYPE(__half, maxHalfToFloat, maxFloatToHalf)
MAX_HALF_PAIR(__half2, __half)
typedef __half half;
typedef __half2 half2;

MAX_HALF_FUNCTION __half __float2half(float x) { return __half(x); }
MAX_HALF_FUNCTION __half __float2half_rn(float x) { return __half(x); }
MAX_HALF_FUNCTION float __half2float(__half x) { return x; }
MAX_HALF_FUNCTION __half __int2half_rn(int x) { return __half((float)x); }
MAX_HALF_FUNCTION int __half2int_rz(__half x) { return __float2int_rz((float)x); }
MAX_HALF_FUNCTION __half __double2half(double x) { return __half(x); }
MAX_HALF_FUNCTION __half __uint2half_rn(unsigned x) { return __half((float)x); }
MAX_HALF_FUNCTION __half __short2half_rn(short x) { return __half((float)x); }
MAX_HALF_FUNCTION __half __ushort2half_rn(unsigned short x) { return __half((float)x); }
MAX_HALF_FUNCTION int __half2int_rn(__half x) { return __float2int_rn((float)x); }
MAX_HALF_FUNCTION unsigned __half2uint_rz(__half x) { return __float2uint_rz((float)x); }
MAX_HALF_FUNCTION unsigned __half2uint_rn(__half x) { return __float2uint_rn((float)x); }
MAX_HALF_FUNCTION short __half_as_short(__half x) { return (short)x.bits; }
MAX_HALF_FUNCTION unsigned short __half_as_ushort(__half x) { return x.bits; }
MAX_HALF_FUNCTION __half __ushort_as_half(unsigned short bits) {
  __half x;
  x.bits = bits;
  return x;
}
MAX_HALF_FUNCTION __half __short_as_half(short bits) { return __ushort_as_half((unsigned short)bits); }
MAX_HALF_FUNCTION __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
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
MAX_HALF_FUNCTION __half2 __float22half2_rn(float2 x) { return __half2(__half(x.x), __half(x.y)); }
#endif

MAX_HALF_TYPE(__nv_bfloat16, maxBfloatToFloat, maxFloatToBfloat)
MAX_HALF_PAIR(__nv_bfloat162, __nv_bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

MAX_HALF_FUNCTION __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION float __bfloat162float(__nv_bfloat16 x) { return x; }
MAX_HALF_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
MAX_HALF_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 x;
  x.bits = bits;
  return x;
}
MAX_HALF_FUNCTION __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}

MAX_HALF_FUNCTION __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
MAX_HALF_FUNCTION __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16((float)x); }
MAX_HALF_FUNCTION __nv_bfloat162 __float2bfloat162_rn(float x) { return __floats2bfloat162_rn(x, x); }
MAX_HALF_FUNCTION __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MAX_HALF_FUNCTION __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
MAX_HALF_FUNCTION __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MAX_HALF_FUNCTION __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
MAX_HALF_FUNCTION __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
MAX_HALF_FUNCTION float2 __bfloat1622float2(__nv_bfloat162 x) { return make_float2((float)x.x, (float)x.y); }
MAX_HALF_FUNCTION __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __floats2bfloat162_rn(x.x, x.y); }

// CUDA's function supports the built-in types.
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
#endif

#undef MAX_HALF_PAIR_OPERATOR
#undef MAX_HALF_PAIR_FUNCTION
#undef MAX_HALF_PAIR
#undef MAX_HALF_TYPE
#undef MAX_HALF_COMPARISON
#undef MAX_HALF_OPERATOR
#undef MAX_HALF_FUNCTION
