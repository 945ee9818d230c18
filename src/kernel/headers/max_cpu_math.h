// SPDX-License-Identifier: Apache-2.0
// The functions of C's <math.h> and the additional ones of accelerators.
#pragma once
#pragma GCC system_header  // sources may enable any warnings

template <class A, class B>
inline constexpr bool __max_same = false;
template <class A>
inline constexpr bool __max_same<A, A> = true;

#define __max_functions_of_one(apply)                                                                               \
  apply(acos) apply(acosh) apply(asin) apply(asinh) apply(atan) apply(atanh) apply(cbrt) apply(ceil) apply(cos)     \
      apply(cosh) apply(erf) apply(erfc) apply(exp) apply(exp2) apply(expm1) apply(fabs) apply(floor) apply(lgamma) \
          apply(log) apply(log10) apply(log1p) apply(log2) apply(logb) apply(nearbyint) apply(rint) apply(round)    \
              apply(sin) apply(sinh) apply(sqrt) apply(tan) apply(tanh) apply(tgamma) apply(trunc)

#define __max_functions_of_two(apply)                                                                        \
  apply(atan2) apply(copysign) apply(fdim) apply(fmax) apply(fmin) apply(fmod) apply(hypot) apply(nextafter) \
      apply(pow) apply(remainder)

extern "C" {
#define __max_declare(name)       \
  double name(double x) noexcept; \
  float name##f(float x) noexcept;
__max_functions_of_one(__max_declare);
__max_declare(exp10);
__max_declare(j0);
__max_declare(j1);
__max_declare(y0);
__max_declare(y1);
#undef __max_declare
#define __max_declare(name)                 \
  double name(double x, double y) noexcept; \
  float name##f(float x, float y) noexcept;
__max_functions_of_two(__max_declare);
#undef __max_declare
#define __max_declare(T, suffix)                         \
  T fma##suffix(T x, T y, T z) noexcept;                 \
  T frexp##suffix(T x, int* exponent) noexcept;          \
  T ldexp##suffix(T x, int exponent) noexcept;           \
  T scalbn##suffix(T x, int exponent) noexcept;          \
  T scalbln##suffix(T x, long exponent) noexcept;        \
  T modf##suffix(T x, T* whole) noexcept;                \
  T remquo##suffix(T x, T y, int* quotient) noexcept;    \
  T jn##suffix(int n, T x) noexcept;                     \
  T yn##suffix(int n, T x) noexcept;                     \
  T nan##suffix(const char* text) noexcept;              \
  int ilogb##suffix(T x) noexcept;                       \
  long lrint##suffix(T x) noexcept;                      \
  long lround##suffix(T x) noexcept;                     \
  long long llrint##suffix(T x) noexcept;                \
  long long llround##suffix(T x) noexcept;               \
  void sincos##suffix(T x, T* sine, T* cosine) noexcept; \
  int __isnan##suffix(T x) noexcept;                     \
  int __isinf##suffix(T x) noexcept;                     \
  int __finite##suffix(T x) noexcept;
__max_declare(double, );
__max_declare(float, f);
#undef __max_declare
int abs(int x) noexcept;
long labs(long x) noexcept;
long long llabs(long long x) noexcept;
}

// The same names for float, and for integers, which become double. Being templates, they yield to functions of the C++
// library and of the source; the namespace keeps them apart from what that library imports from C.
namespace __max_math {

#define __max_overload(name)                           \
  template <class T, __max_if<__max_is_number<T>> = 0> \
  static __forceinline__ auto name(T x) {              \
    if constexpr (__max_same<T, float>)                \
      return ::name##f(x);                             \
    else                                               \
      return ::name((double)x);                        \
  }
__max_functions_of_one(__max_overload);
__max_overload(lrint);
__max_overload(llrint);
__max_overload(lround);
__max_overload(llround);
__max_overload(ilogb);
__max_overload(exp10);
#undef __max_overload

#define __max_overload(name)                                                          \
  template <class T, class U, __max_if<__max_is_number<T> && __max_is_number<U>> = 0> \
  static __forceinline__ auto name(T x, U y) {                                        \
    if constexpr (__max_same<T, float> && __max_same<U, float>)                       \
      return ::name##f(x, y);                                                         \
    else                                                                              \
      return ::name((double)x, (double)y);                                            \
  }
__max_functions_of_two(__max_overload);
#undef __max_overload

#define __max_overload(name, Second)                   \
  template <class T, __max_if<__max_is_number<T>> = 0> \
  static __forceinline__ auto name(T x, Second y) {    \
    if constexpr (__max_same<T, float>)                \
      return ::name##f(x, y);                          \
    else                                               \
      return ::name((double)x, y);                     \
  }
__max_overload(frexp, int*);
__max_overload(ldexp, int);
__max_overload(scalbn, int);
#undef __max_overload

template <class T, class U, class V, __max_if<__max_is_number<T> && __max_is_number<U> && __max_is_number<V>> = 0>
static __forceinline__ auto fma(T x, U y, V z) {
  if constexpr (__max_same<T, float> && __max_same<U, float> && __max_same<V, float>)
    return ::fmaf(x, y, z);
  else
    return ::fma((double)x, (double)y, (double)z);
}
template <int = 0>
static __forceinline__ float modf(float x, float* whole) {
  return ::modff(x, whole);
}
template <int = 0>
static __forceinline__ float remquo(float x, float y, int* quotient) {
  return ::remquof(x, y, quotient);
}
template <int = 0>
static __forceinline__ void sincos(float x, float* sine, float* cosine) {
  ::sincosf(x, sine, cosine);
}
template <class T, __max_if<__max_is_real<T> || __max_same<T, long> || __max_same<T, long long>> = 0>
static __forceinline__ T abs(T x) {
  if constexpr (__max_same<T, float>)
    return ::fabsf(x);
  else if constexpr (__max_same<T, double>)
    return ::fabs(x);
  else
    return x < 0 ? -x : x;
}
#define __max_question(name)                           \
  template <class T, __max_if<__max_is_number<T>> = 0> \
  static __forceinline__ bool name(T x) {              \
    if constexpr (__max_same<T, float>)                \
      return __builtin_##name(x);                      \
    else                                               \
      return __builtin_##name((double)x);              \
  }
__max_question(isnan);
__max_question(isinf);
__max_question(isfinite);
__max_question(signbit);
#undef __max_question

}  // namespace __max_math
using namespace __max_math;

#define __max_min_max(T)                                  \
  static inline T min(T a, T b) { return b < a ? b : a; } \
  static inline T max(T a, T b) { return a < b ? b : a; }
__max_min_max(int);
__max_min_max(unsigned);
__max_min_max(long);
__max_min_max(unsigned long);
__max_min_max(long long);
__max_min_max(unsigned long long);
#undef __max_min_max
// Of two types, as CUDA has them.
#define __max_min_max(A, B, T)                              \
  static inline T min(A a, B b) { return min((T)a, (T)b); } \
  static inline T min(B a, A b) { return min((T)a, (T)b); } \
  static inline T max(A a, B b) { return max((T)a, (T)b); } \
  static inline T max(B a, A b) { return max((T)a, (T)b); }
__max_min_max(int, unsigned, unsigned);
__max_min_max(long, unsigned long, unsigned long);
__max_min_max(long long, unsigned long long, unsigned long long);

static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
__max_min_max(float, double, double);
#undef __max_min_max
#define __max_min_max(prefix, T)                                  \
  static inline T prefix##min(T a, T b) { return b < a ? b : a; } \
  static inline T prefix##max(T a, T b) { return a < b ? b : a; }
__max_min_max(u, unsigned);
__max_min_max(ll, long long);
__max_min_max(ull, unsigned long long);
#undef __max_min_max

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
static inline float fdividef(float a, float b) { return a / b; }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
static inline double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
static inline double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
static inline float sinpif(float x) { return (float)sinpi(x); }
static inline float cospif(float x) { return (float)cospi(x); }
static inline void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
static inline void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
static inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
static inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
static inline float norm3df(float x, float y, float z) {
  return (float)sqrt((double)x * x + (double)y * y + (double)z * z);
}
static inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
static inline float norm4df(float x, float y, float z, float w) {
  return (float)sqrt((double)x * x + (double)y * y + (double)z * z + (double)w * w);
}
static inline float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
static inline float erfcxf(float x) {
  // From 8 on, the quotient of the two functions loses precision; the series needs no more terms.
  const double y = x, inverse = 0.5 / (y * y);
  if (x < 8.0f) return (float)(exp(y * y) * erfc(y));
  return (float)(0.56418958354775628695 / y * (1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse))));
}

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
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __drcp_rn(double x) { return 1.0 / x; }

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

static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// Conversions saturate; NaN becomes 0.
template <class To, class From>
static inline To __max_saturated(From x, From below, From above, To least, To most) {
  return x != x ? To(0) : x >= above ? most : x < below ? least : (To)x;
}
// To the nearest number, towards zero, down and up.
#define __max_conversions(name, To, From, suffix, below, above, least, most)         \
  static inline To __##name##_rz(From x) {                                           \
    return __max_saturated<To, From>(trunc##suffix(x), below, above, least, most);   \
  }                                                                                  \
  static inline To __##name##_rn(From x) { return __##name##_rz(rint##suffix(x)); }  \
  static inline To __##name##_rd(From x) { return __##name##_rz(floor##suffix(x)); } \
  static inline To __##name##_ru(From x) { return __##name##_rz(ceil##suffix(x)); }
#define __max_integers(From, T, suffix)                                                                \
  __max_conversions(From##2int, int, T, suffix, -0x1p31, 0x1p31, -__INT_MAX__ - 1, __INT_MAX__)        \
      __max_conversions(From##2uint, unsigned, T, suffix, 0, 0x1p32, 0u, ~0u) __max_conversions(       \
          From##2ll, long long, T, suffix, -0x1p63, 0x1p63, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__) \
          __max_conversions(From##2ull, unsigned long long, T, suffix, 0, 0x1p64, 0ull, ~0ull)
__max_integers(float, float, f);
__max_integers(double, double, );
#undef __max_integers
#undef __max_conversions

static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline float __double2float_rn(double x) { return (float)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }

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
static inline unsigned __sad(int a, int b, unsigned sum) {
  return sum + (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b);
}
static inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a < b ? b - a : a - b); }
static inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
static inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
static inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
static inline unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
template <class T>
static inline int __max_dot4(int a, int b, int sum) {
  for (int i = 0; i < 32; i += 8) sum = (int)((unsigned)sum + (unsigned)((int)(T)(a >> i) * (int)(T)(b >> i)));
  return sum;
}
static inline int __dp4a(int a, int b, int sum) { return __max_dot4<signed char>(a, b, sum); }
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return (unsigned)__max_dot4<unsigned char>((int)a, (int)b, (int)sum);
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned)(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}

// Cache hints have no effect here.
#define __max_load(name)                   \
  template <class T>                       \
  static inline T name(const T* address) { \
    return *address;                       \
  }
__max_load(__ldg);
__max_load(__ldca);
__max_load(__ldcg);
__max_load(__ldcs);
__max_load(__ldlu);
__max_load(__ldcv);
#undef __max_load
#define __max_store(name)                               \
  template <class T, class U>                           \
  static inline void name(T* address, const U& value) { \
    *address = value;                                   \
  }
__max_store(__stcg);
__max_store(__stcs);
__max_store(__stwb);
__max_store(__stwt);
#undef __max_store
