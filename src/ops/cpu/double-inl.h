// SPDX-License-Identifier: Apache-2.0
// Exponentials of float64 vectors, off by less than 2e-16 of themselves. NaN stays NaN.
// Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_DOUBLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_DOUBLE_INL_H
#undef MAX_OPS_CPU_DOUBLE_INL_H
#else
#define MAX_OPS_CPU_DOUBLE_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

// e^x is 2^power times a sum of 1 and of this rest.
template <class V>
struct DoublePower {
  V rest, power;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE DoublePower<V> powerOf(D d, V x) {
  // (e^r - 1 - r) / r^2 up to half a logarithm of 2.
  constexpr double kTail[] = {0.5,
                              0.166666666666666851703837,
                              0.0416666666666665047591422,
                              0.00833333333331652721664984,
                              0.00138888888889774492207962,
                              0.000198412698960509205564975,
                              2.4801587159235472998791e-5,
                              2.75572362911928827629423e-6,
                              2.75573911234900471893338e-7,
                              2.51112930892876518610661e-8,
                              2.08860621107283687536341e-9};
  // e^x is 0 or infinite at these ends.
  x = hn::Max(hn::Set(d, -750.0), hn::Min(hn::Set(d, 711.0), x));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.442695040888963407359924681)));
  // The logarithm of 2 in two parts, so that the product with n is exact.
  const V r = hn::NegMulAdd(n, hn::Set(d, 0.28235290563031577122588448175e-12),
                            hn::NegMulAdd(n, hn::Set(d, 0.6931471805596629565116018), x));
  V tail = hn::Set(d, kTail[10]);
  MAX_UNROLL for (int i = 9; i >= 0; --i) tail = hn::MulAdd(tail, r, hn::Set(d, kTail[i]));
  return {hn::MulAdd(hn::Mul(r, r), tail, r), n};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V expOfDouble(D d, V x) {
  const DoublePower<V> power = powerOf(d, x);
  return V{_mm512_scalef_pd(hn::Add(power.rest, hn::Set(d, 1.0)).raw, power.power.raw)};
}

#elif HWY_TARGET == HWY_AVX2

// Of numbers up to 700.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expOfDouble(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

#endif

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
