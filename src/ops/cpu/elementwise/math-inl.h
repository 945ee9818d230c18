// SPDX-License-Identifier: Apache-2.0
// More elementary functions on float vectors, on top of math-inl.h. NaN stays NaN.
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

// e^x - 1 = tanh(x / 2) (e^x + 1), exact for small x; for x <= 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  return hn::Mul(tanh(d, hn::Mul(x, hn::Set(d, 0.5f))), hn::Add(exp(d, x), hn::Set(d, 1.f)));
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

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
