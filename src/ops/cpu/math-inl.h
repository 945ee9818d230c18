// SPDX-License-Identifier: Apache-2.0
// Elementary functions on float vectors, about 4e-7 relative error. NaN stays NaN.
// Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_MATH_INL_H
#undef MAX_OPS_CPU_MATH_INL_H
#else
#define MAX_OPS_CPU_MATH_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V clampKeepingNan(D d, V x, float low, float high) {
  // x86's min and max return the second operand if one is NaN.
  const V clamped = hn::Max(hn::Set(d, low), hn::Min(hn::Set(d, high), x));
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::IsNaN(x), x, clamped);
#else
  return clamped;
#endif
}

// c[0] + c[1] x + ... + c[count - 1] x^(count - 1)
template <class D, class V = hn::Vec<D>, int count>
HWY_INLINE V polynomial(D d, V x, const float (&c)[count]) {
  V sum = hn::Set(d, c[count - 1]);
#pragma GCC unroll 8
  for (int i = count - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

// 2^n for n in [-126, 127]; 0 for -127.
template <class D, class VI>
HWY_INLINE hn::Vec<D> powerOfTwo(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// Whether an instruction multiplies by a power of two, whatever the result.
template <class V>
constexpr bool kScales = HWY_TARGET == HWY_AVX3 && sizeof(V) == 64;

// e^x = 2^n e^r with |r| up to half a logarithm of 2.
template <class D, class V = hn::Vec<D>>
struct PowerAndRest {
  V n, r;
  V sum;  // whose lowest digits are n

  HWY_INLINE PowerAndRest(D d, V x) {
    const V magic = hn::Set(d, 0x1.8p23f);
    sum = hn::MulAdd(x, hn::Set(d, 1.442695041f), magic);
    n = hn::Sub(sum, magic);
    // log(2) is in two parts, so that the product with n is exact.
    r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  }
  // y 2^n, if that is a normal number.
  HWY_INLINE V scale(D d, V y) const {
#if HWY_TARGET == HWY_AVX3
    if constexpr (kScales<V>) return V{_mm512_scalef_ps(y.raw, n.raw)};
#endif
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::Add(hn::BitCast(du, y), hn::ShiftLeft<23>(hn::BitCast(du, sum))));
  }
};

// (e^x - 1 - x) / x^2 for x around 0, up to half a logarithm of 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expTail(D d, V x, V square) {
  const V low = hn::MulAdd(x, hn::Set(d, 1.666651840e-01f), hn::Set(d, 4.999998859e-01f));
  const V high = hn::MulAdd(x, hn::Set(d, 8.368923427e-03f), hn::Set(d, 4.166953422e-02f));
  return hn::MulAdd(square, hn::MulAdd(square, hn::Set(d, 1.375138214e-03f), high), low);
}

// e^x; infinity where float ends. Results below the smallest normal number, which would cost a hundred times
// more, are 0: masked scores of a softmax are such.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const V least = hn::Set(d, -87.33654f), most = hn::Set(d, 88.7228317f);
  const PowerAndRest<D> power(d, kScales<V> ? hn::Min(hn::Set(d, 89.f), x) : x);  // the second operand, if one is NaN
  const V square = hn::Mul(power.r, power.r);
  V e = hn::MulAdd(square, expTail(d, power.r, square), hn::Add(power.r, hn::Set(d, 1.f)));
  e = power.scale(d, e);
  if constexpr (!kScales<V>) e = hn::IfThenElse(hn::Le(x, most), e, hn::Mul(x, hn::Set(d, HUGE_VALF)));  // or NaN
  return hn::IfThenZeroElse(hn::Lt(x, least), e);
}

// Polynomials of 2^x for x in [0, 1), off by 1.5e-7 and, for what is rounded to bfloat16, by 3e-6.
inline constexpr float kPowers[] = {
    1.f, 6.931512952e-01f, 2.401644439e-01f, 5.579991266e-02f, 9.017030708e-03f, 1.867130050e-03f};
inline constexpr float kRoundedPowers[] = {1.000002593f, 6.930038345e-01f, 2.414427567e-01f, 5.201146094e-02f,
                                           1.353416775e-02f};

// e^x of x <= 0, the weights of a softmax, which are compared with a weight of 1: an error is that of the polynomial,
// and 6e-8 of x, times e^x. As above, those below the smallest normal number are 0.
template <class D, class V = hn::Vec<D>, int count>
HWY_INLINE V softmaxWeight(D d, V x, const float (&powers)[count]) {
  const V t = hn::Mul(x, hn::Set(d, 1.442695041f));
#if HWY_TARGET == HWY_AVX3
  if constexpr (kScales<V>) {
    const __mmask16 stays = _mm512_cmp_ps_mask(t.raw, _mm512_set1_ps(-126), _CMP_NLT_UQ);  // NaN, too
    const V fraction{_mm512_reduce_ps(t.raw, 1)};                                          // 1 = of the floor
    return V{_mm512_maskz_scalef_ps(stays, polynomial(d, fraction, powers).raw, t.raw)};
  }
#endif
  // The exponent of 2^-127 is that of 0.
  const V bounded = clampKeepingNan(d, t, -127.f, 0.f), floor = hn::Floor(bounded);
  const V power = polynomial(d, hn::Sub(bounded, floor), powers);
  return hn::Mul(power, powerOfTwo(d, hn::ConvertTo(hn::RebindToSigned<D>(), floor)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.f);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  static constexpr float kP[] = {9.999999793e-01f, 1.338037158e-01f, 3.494811027e-03f, 2.059627352e-05f,
                                 1.333684774e-08f};
  static constexpr float kQ[] = {1.f, 4.671368700e-01f, 2.587402667e-02f, 3.284363187e-04f, 7.769282814e-07f};
  x = clampKeepingNan(d, x, -9.01f, 9.01f);
  const V square = hn::Mul(x, x);
  const V y = hn::Div(hn::Mul(x, polynomial(d, square, kP)), polynomial(d, square, kQ));
  return clampKeepingNan(d, y, -1.f, 1.f);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf(D d, V x) {
  static constexpr float kP[] = {1.128379146e+00f, 1.904057356e-01f, 5.274863886e-02f,
                                 3.765589718e-03f, 2.848827966e-04f, 2.050101186e-06f};
  static constexpr float kQ[] = {
      1.f, 5.020754306e-01f, 1.141088209e-01f, 1.496916058e-02f, 1.162530245e-03f, 3.809186458e-05f};
  x = clampKeepingNan(d, x, -3.92f, 3.92f);
  const V square = hn::Mul(x, x);
  const V y = hn::Div(hn::Mul(x, polynomial(d, square, kP)), polynomial(d, square, kQ));
  return clampKeepingNan(d, y, -1.f, 1.f);
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
