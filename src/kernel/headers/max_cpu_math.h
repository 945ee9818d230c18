// SPDX-License-Identifier: Apache-2.0
// Functions that accelerators have besides those of the C library.
#pragma once

#define __max_min_max(T)                                  \
  static inline T min(T a, T b) { return b < a ? b : a; } \
  static inline T max(T a, T b) { return a < b ? b : a; }
__max_min_max(int) __max_min_max(unsigned) __max_min_max(long) __max_min_max(unsigned long) __max_min_max(long long)
    __max_min_max(unsigned long long)
#undef __max_min_max
        static inline unsigned min(unsigned a, int b) {
  return min(a, (unsigned)b);
}
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
static inline float fdividef(float a, float b) { return a / b; }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
static inline float sinpif(float x) { return (float)sin(3.14159265358979323846 * fmod((double)x, 2.0)); }
static inline float cospif(float x) { return (float)cos(3.14159265358979323846 * fmod((double)x, 2.0)); }

static inline float __fdividef(float a, float b) { return a / b; }

// The hardware's own approximations: here the exact functions. glibc declares functions of these names.
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, sine, cosine) sincosf(x, sine, cosine)

static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

template <class To, class From>
static inline To __max_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}
static inline int __float_as_int(float x) { return __max_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return __max_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return __max_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return __max_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return __max_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return __max_bits<double>(x); }

// Conversions saturate, and make nothing of what is no number.
static inline int __float2int_rz(float x) {
  return x != x ? 0 : x >= 2147483648.0f ? INT_MAX : x < -2147483648.0f ? INT_MIN : (int)x;
}
static inline int __float2int_rn(float x) { return __float2int_rz(rintf(x)); }
static inline int __float2int_rd(float x) { return __float2int_rz(floorf(x)); }
static inline int __float2int_ru(float x) { return __float2int_rz(ceilf(x)); }
static inline unsigned __float2uint_rz(float x) {
  return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? UINT_MAX : (unsigned)x;
}
static inline unsigned __float2uint_rn(float x) { return __float2uint_rz(rintf(x)); }
static inline int __double2int_rz(double x) {
  return x != x ? 0 : x >= 2147483648.0 ? INT_MAX : x <= -2147483649.0 ? INT_MIN : (int)x;
}
static inline int __double2int_rn(double x) { return __double2int_rz(rint(x)); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __double2float_rn(double x) { return (float)x; }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned)(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}
template <class T>
static inline T __ldg(const T* address) {
  return *address;
}
