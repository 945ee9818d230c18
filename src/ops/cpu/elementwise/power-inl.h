// SPDX-License-Identifier: Apache-2.0
// Powers of float vectors: 2^(y log2 x) in double, so that the result is
// accurate to about float's last bit. Included after dispatch.h, once per
// target.

#include <cmath>

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_POWER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_POWER_INL_H
#undef MAX_OPS_CPU_POWER_INL_H
#else
#define MAX_OPS_CPU_POWER_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// log2 of positive finite numbers that are normal as doubles: 2 / ln 2 artanh((m - 1) / (m + 1)) plus the exponent,
// with m in [sqrt(1/2), sqrt(2)).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log2OfDouble(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(di, 0x3fe6a09e667f3bcdll)));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(exponent)));
  const V one = hn::Set(d, 1.0), s = hn::Div(hn::Sub(m, one), hn::Add(m, one)), square = hn::Mul(s, s);
  V sum = hn::Set(d, 1.0 / 13);
  for (const double divisor : {11.0, 9.0, 7.0, 5.0, 3.0, 1.0}) sum = hn::MulAdd(sum, square, hn::Set(d, 1 / divisor));
  return hn::MulAdd(hn::Mul(s, hn::Set(d, 2.8853900817779268)), sum, hn::ConvertTo(d, exponent));
}

// 2^x for x in [-300, 300].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2OfDouble(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V whole = hn::Round(x), r = hn::Mul(hn::Sub(x, whole), hn::Set(d, 0.6931471805599453));
  V sum = hn::Set(d, 1.0);
  for (const double divisor : {9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0})
    sum = hn::MulAdd(hn::Mul(sum, r), hn::Set(d, 1 / divisor), hn::Set(d, 1.0));
  // The sum has the whole number in its low bits.
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(di, hn::Add(whole, hn::Set(d, 0x1.8p52))));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, sum), exponent));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V powerOfDoubles(D d, V x, V y) {
  const V exponent = hn::Mul(y, log2OfDouble(d, x));
  return exp2OfDouble(d, hn::Min(hn::Max(exponent, hn::Set(d, -300.0)), hn::Set(d, 300.0)));
}

#endif

// x^y as libm defines it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power(D d, V x, V y) {
#if HWY_TARGET != HWY_SCALAR
  const V limit = hn::Set(d, 3.40282347e38f);
  const auto usual = hn::And(hn::And(hn::Gt(x, hn::Zero(d)), hn::Le(x, limit)), hn::Le(hn::Abs(y), limit));
  if (HWY_LIKELY(hn::AllTrue(d, usual))) {
    const hn::Half<D> dh;
    const hn::Rebind<double, decltype(dh)> dd;
    const auto low =
        powerOfDoubles(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)), hn::PromoteTo(dd, hn::LowerHalf(dh, y)));
    const auto high =
        powerOfDoubles(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)), hn::PromoteTo(dd, hn::UpperHalf(dh, y)));
    return hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
  }
#endif
  HWY_ALIGN float base[hn::MaxLanes(d)], exponent[hn::MaxLanes(d)];
  hn::Store(x, d, base);
  hn::Store(y, d, exponent);
  for (size_t i = 0; i < hn::Lanes(d); ++i) base[i] = std::pow(base[i], exponent[i]);
  return hn::Load(d, base);
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
