// SPDX-License-Identifier: Apache-2.0
// 16-bit floating point in kernels, the same on all APIs: __half and __nv_bfloat16 (hip_bfloat16 is the same).
// Arithmetic is done in float and rounded to nearest even.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIP__)
#define MAX_HALF_FUNCTION __device__ inline
#else
#define MAX_HALF_FUNCTION static inline
#endif

MAX_HALF_FUNCTION unsigned __max_float_bits(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
MAX_HALF_FUNCTION float __max_bits_float(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

#if defined(__CUDA_ARCH__)
MAX_HALF_FUNCTION unsigned short __max_half_bits(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
MAX_HALF_FUNCTION float __max_half_float(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
#elif defined(__FLT16_MANT_DIG__)
MAX_HALF_FUNCTION unsigned short __max_half_bits(float value) {
  const _Float16 half = (_Float16)value;
  unsigned short bits;
  __builtin_memcpy(&bits, &half, sizeof bits);
  return bits;
}
MAX_HALF_FUNCTION float __max_half_float(unsigned short bits) {
  _Float16 half;
  __builtin_memcpy(&half, &bits, sizeof half);
  return (float)half;
}
#else
// Scaling by powers of two lets float arithmetic round, subnormal numbers included.
MAX_HALF_FUNCTION unsigned short __max_half_bits(float value) {
  const unsigned bits = __max_float_bits(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);
  if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (size < 0x38800000u)
    return (unsigned short)(sign | (__max_float_bits(__max_bits_float(size) + 0.5f) - 0x3f000000u));
  return (unsigned short)(sign | ((size + 0xfffu + (size >> 13 & 1u)) - 0x38000000u) >> 13);
}
MAX_HALF_FUNCTION float __max_half_float(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
  if (size >= 0x7c00u) return __max_bits_float(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  if (size < 0x400u) return __max_bits_float(sign | __max_float_bits((float)size * 0x1p-24f));
  return __max_bits_float(sign | ((size << 13) + 0x38000000u));
}
#endif

MAX_HALF_FUNCTION unsigned short __max_bfloat_bits(float value) {
  const unsigned bits = __max_float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(bits >> 16 | 0x40u);
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
MAX_HALF_FUNCTION float __max_bfloat_float(unsigned short bits) { return __max_bits_float((unsigned)bits << 16); }

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIP__)
#define MAX_HALF_MEMBER __device__
#else
#define MAX_HALF_MEMBER
#endif

#define MAX_HALF_TYPE(Name, toBits, toFloat)                                                                  \
  struct alignas(2) Name {                                                                                    \
    unsigned short __x;                                                                                       \
    Name() = default;                                                                                         \
    MAX_HALF_MEMBER Name(float value) : __x(toBits(value)) {}                                                 \
    MAX_HALF_MEMBER Name(double value) : __x(toBits((float)value)) {}                                         \
    MAX_HALF_MEMBER Name(int value) : __x(toBits((float)value)) {}                                            \
    MAX_HALF_MEMBER operator float() const { return toFloat(__x); }                                           \
    MAX_HALF_MEMBER Name& operator+=(Name other) { return *this = Name((float)*this + (float)other); }        \
    MAX_HALF_MEMBER Name& operator-=(Name other) { return *this = Name((float)*this - (float)other); }        \
    MAX_HALF_MEMBER Name& operator*=(Name other) { return *this = Name((float)*this * (float)other); }        \
    MAX_HALF_MEMBER Name& operator/=(Name other) { return *this = Name((float)*this / (float)other); }        \
  };                                                                                                          \
  struct alignas(4) Name##2 {                                                                                 \
    Name x, y;                                                                                                \
  };                                                                                                          \
  MAX_HALF_FUNCTION Name operator+(Name a, Name b) { return Name((float)a + (float)b); }                      \
  MAX_HALF_FUNCTION Name operator-(Name a, Name b) { return Name((float)a - (float)b); }                      \
  MAX_HALF_FUNCTION Name operator*(Name a, Name b) { return Name((float)a * (float)b); }                      \
  MAX_HALF_FUNCTION Name operator/(Name a, Name b) { return Name((float)a / (float)b); }                      \
  MAX_HALF_FUNCTION Name operator-(Name a) { return Name(-(float)a); }                                        \
  MAX_HALF_FUNCTION bool operator==(Name a, Name b) { return (float)a == (float)b; }                          \
  MAX_HALF_FUNCTION bool operator!=(Name a, Name b) { return (float)a != (float)b; }                          \
  MAX_HALF_FUNCTION bool operator<(Name a, Name b) { return (float)a < (float)b; }                            \
  MAX_HALF_FUNCTION bool operator>(Name a, Name b) { return (float)a > (float)b; }                            \
  MAX_HALF_FUNCTION bool operator<=(Name a, Name b) { return (float)a <= (float)b; }                          \
  MAX_HALF_FUNCTION bool operator>=(Name a, Name b) { return (float)a >= (float)b; }                          \
  MAX_HALF_FUNCTION Name __hadd(Name a, Name b) { return a + b; }                                             \
  MAX_HALF_FUNCTION Name __hsub(Name a, Name b) { return a - b; }                                             \
  MAX_HALF_FUNCTION Name __hmul(Name a, Name b) { return a * b; }                                             \
  MAX_HALF_FUNCTION Name __hdiv(Name a, Name b) { return a / b; }                                             \
  MAX_HALF_FUNCTION Name __hneg(Name a) { return -a; }                                                        \
  MAX_HALF_FUNCTION bool __heq(Name a, Name b) { return a == b; }                                             \
  MAX_HALF_FUNCTION bool __hlt(Name a, Name b) { return a < b; }                                              \
  MAX_HALF_FUNCTION bool __hgt(Name a, Name b) { return a > b; }                                              \
  MAX_HALF_FUNCTION bool __hisnan(Name a) { return (float)a != (float)a; }                                    \
  MAX_HALF_FUNCTION Name __hfma(Name a, Name b, Name c) {                                                     \
    return Name(__builtin_fmaf((float)a, (float)b, (float)c));                                                \
  }

MAX_HALF_TYPE(__half, __max_half_bits, __max_half_float)
MAX_HALF_TYPE(__nv_bfloat16, __max_bfloat_bits, __max_bfloat_float)
#undef MAX_HALF_TYPE

typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16 hip_bfloat16;
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;

MAX_HALF_FUNCTION __half __float2half(float value) { return __half(value); }
MAX_HALF_FUNCTION __half __float2half_rn(float value) { return __half(value); }
MAX_HALF_FUNCTION float __half2float(__half value) { return (float)value; }
MAX_HALF_FUNCTION __half2 __halves2half2(__half x, __half y) { return {x, y}; }
MAX_HALF_FUNCTION __half2 __float2half2_rn(float value) { return {__half(value), __half(value)}; }
MAX_HALF_FUNCTION __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
MAX_HALF_FUNCTION __half __low2half(__half2 value) { return value.x; }
MAX_HALF_FUNCTION __half __high2half(__half2 value) { return value.y; }
MAX_HALF_FUNCTION float __low2float(__half2 value) { return (float)value.x; }
MAX_HALF_FUNCTION float __high2float(__half2 value) { return (float)value.y; }
MAX_HALF_FUNCTION __half2 __hadd2(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
MAX_HALF_FUNCTION __half2 __hmul2(__half2 a, __half2 b) { return {a.x * b.x, a.y * b.y}; }
MAX_HALF_FUNCTION __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
MAX_HALF_FUNCTION unsigned short __half_as_ushort(__half value) { return value.__x; }
MAX_HALF_FUNCTION __half __ushort_as_half(unsigned short bits) {
  __half value;
  value.__x = bits;
  return value;
}
MAX_HALF_FUNCTION __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
MAX_HALF_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
MAX_HALF_FUNCTION float __bfloat162float(__nv_bfloat16 value) { return (float)value; }
MAX_HALF_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
MAX_HALF_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 value;
  value.__x = bits;
  return value;
}
