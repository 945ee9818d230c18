// SPDX-License-Identifier: Apache-2.0
// More elementary functions on float vectors, on top of math-inl.h. NaN stays NaN. Tangents, arc and hyperbolic
// functions are off by at most 6e-7 of themselves.
// Included after dispatch.h, once per target.

#include <cmath>

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_ELEMENTWISE_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_ELEMENTWISE_MATH_INL_H
#undef MAX_OPS_CPU_ELEMENTWISE_MATH_INL_H
#else
#define MAX_OPS_CPU_ELEMENTWISE_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>

#include "ops/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// NaN if either operand is; x86's instructions would return the second operand.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V minimum(D, V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b)));
#else
  return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b));
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V maximum(D, V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b)));
#else
  return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b));
#endif
}

// `high` wins if the limits cross.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamp(D, V x, V low, V high) {
  const V clamped = hn::Min(high, hn::Max(low, x));
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::IsNaN(x), x, clamped);
#else
  return clamped;
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const V infinity = hn::Set(d, HUGE_VALF), zero = hn::Zero(d);
  V y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  // Not x >= 0: negative or NaN.
  return hn::IfThenElse(hn::Ge(x, zero), y, hn::Set(d, NAN));
}

// log(1 + x) for x in [0, 1], exact for small x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V logOnePlus(D d, V x) {
  const V one = hn::Set(d, 1.f), sum = hn::Add(one, x), rounded = hn::Sub(sum, one);
  const V y = hn::Div(hn::Mul(hn::Log(d, sum), x), rounded);
  return hn::IfThenElse(hn::Eq(rounded, hn::Zero(d)), x, y);
}

// e^x - 1, with all digits of small x; for x <= 0. It is 2^n times that of x - n log(2), and 2^n - 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  x = clampKeepingNan(d, x, -87.f, 0.f);
  const PowerAndRest<D> scaled(d, x);
  const V one = hn::Set(d, 1.f), r = scaled.r, square = hn::Mul(r, r), power = scaled.scale(d, one);
  return hn::MulAdd(hn::MulAdd(square, expTail(d, r, square), r), power, hn::Sub(power, one));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x) {
  return hn::Add(maximum(d, x, hn::Zero(d)), logOnePlus(d, exp(d, hn::Neg(hn::Abs(x)))));
}

// x tanh(log(1 + e^x)); with e = e^x the hyperbolic tangent is (e^2 + 2 e) / (e^2 + 2 e + 2).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V mish(D d, V x) {
  const V e = exp(d, hn::Min(x, hn::Set(d, 20.f)));
  const V sum = hn::Mul(e, hn::Add(e, hn::Set(d, 2.f)));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(x, hn::Div(sum, hn::Add(sum, hn::Set(d, 2.f)))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.707106781f))), half);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V geluTanh(D d, V x) {
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  const V factor = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0356774081f), hn::Set(d, 0.797884561f));
  return hn::MulAdd(half, tanh(d, hn::Mul(x, factor)), half);
}

// The vector forms are valid up to a bound; beyond it, libm is called lane by lane.
template <class D, class V, class Vector, class Scalar>
HWY_INLINE V withinBound(D d, V x, const Vector& vector, const Scalar& scalar) {
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 39000.f))))) return vector(d, x);
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (float& lane : lanes) lane = scalar(lane);
  return hn::Load(d, lanes);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sine(D d, V x) {
  return withinBound(
      d, x, [](D tag, V v) HWY_ATTR { return hn::Sin(tag, v); }, [](float v) { return std::sin(v); });
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V cosine(D d, V x) {
  return withinBound(
      d, x, [](D tag, V v) HWY_ATTR { return hn::Cos(tag, v); }, [](float v) { return std::cos(v); });
}

// x if it is infinite or NaN, where y is neither.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V unlessFinite(D d, V x, V y) {
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, HUGE_VALF)), y, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tangent(D d, V x) {
  const V y = withinBound(
      d, x, [](D tag, V v) HWY_ATTR { return hn::Div(hn::Sin(tag, v), hn::Cos(tag, v)); },
      [](float v) { return std::tan(v); });
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0 stays that
}

// Half of e^|x|, as the product of two numbers that do not overflow before it does.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V halfOfExp(D d, V x) {
  const V half = hn::Set(d, 0.5f), root = exp(d, hn::Mul(hn::Abs(x), half));
  return hn::Mul(hn::Mul(root, half), root);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V coshOf(D d, V x) {
  const V half = halfOfExp(d, x);
  return hn::Add(half, hn::Div(hn::Set(d, 0.25f), half));
}

// Near 0, where the difference would lose digits, its series.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sinhOf(D d, V x) {
  static constexpr float kSeries[] = {1.f, 1.f / 6, 1.f / 120, 1.f / 5040, 1.f / 362880};
  const V half = halfOfExp(d, x), far = hn::Sub(half, hn::Div(hn::Set(d, 0.25f), half));
  const V near = hn::Mul(x, polynomial(d, hn::Mul(x, x), kSeries));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1.f)), near, hn::CopySign(far, x));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverseSinh(D d, V x) {
  return unlessFinite(d, x, hn::Asinh(d, x));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverseCosh(D d, V x) {
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, 1.f)), hn::Set(d, NAN), unlessFinite(d, x, hn::Acosh(d, x)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverseTanh(D d, V x) {
  const V end = hn::CopySign(hn::Set(d, HUGE_VALF), x), size = hn::Abs(x), one = hn::Set(d, 1.f);
  return hn::IfThenElse(hn::Lt(size, one), hn::Atanh(d, x), hn::IfThenElse(hn::Eq(size, one), end, hn::Set(d, NAN)));
}

#if HWY_NATIVE_FMA

// What std::fmod gives. The rest of a quotient below 2^24 is a number of float: a product and sum that is rounded once
// is exact. A quotient that was rounded up to a whole number makes it negative.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V remainder(D d, V x, V y) {
  const V a = hn::Abs(x), b = hn::Abs(y), quotient = hn::Div(a, b);
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(quotient, hn::Set(d, 0x1p24f))))) {
    const V rest = hn::NegMulAdd(hn::Trunc(quotient), b, a);
    const V positive = hn::IfThenElse(hn::Lt(rest, hn::Zero(d)), hn::Add(rest, b), rest);
    return hn::CopySign(hn::IfThenElse(hn::Lt(a, b), a, positive), x);
  }
  HWY_ALIGN float dividend[hn::MaxLanes(d)], divisor[hn::MaxLanes(d)];
  hn::Store(x, d, dividend);
  hn::Store(y, d, divisor);
  for (size_t i = 0; i < hn::Lanes(d); ++i) dividend[i] = std::fmod(dividend[i], divisor[i]);
  return hn::Load(d, dividend);
}

// With the sign of the divisor.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V modulo(D d, V x, V y) {
  const V rest = remainder(d, x, y), zero = hn::Zero(d);
  const auto differ = hn::Xor(hn::Lt(rest, zero), hn::Lt(y, zero));
  return hn::IfThenElse(hn::And(hn::Ne(rest, zero), differ), hn::Add(rest, y), rest);
}

#endif

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
