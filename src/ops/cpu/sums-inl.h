// SPDX-License-Identifier: Apache-2.0
// Sums of the lanes of several vectors at once.
// Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_SUMS_INL_H
#undef MAX_OPS_CPU_SUMS_INL_H
#else
#define MAX_OPS_CPU_SUMS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Pairs of sums: within blocks of 128 bits, {a, b, a, b}.
template <class V, class D = hn::DFromV<V>>
HWY_INLINE V addPairs(V a, V b) {
  const D d;
  return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
}

template <class V, class D = hn::DFromV<V>>
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> sumOfBlocks(V v) {
  if constexpr (hn::MaxLanes(D()) == 4)
    return v;
  else
    return sumOfBlocks(hn::Add(hn::LowerHalf(v), hn::UpperHalf(hn::Half<D>(), v)));
}

#endif

// The sum of each of up to four vectors; `to` has place for four.
template <int kCount>
HWY_INLINE void sumsOf(const hn::Vec<hn::ScalableTag<float>> (&v)[kCount], float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < kCount; ++i) to[i] = hn::GetLane(v[i]);
#else
  const hn::ScalableTag<float> d;
  const hn::RepartitionToWide<decltype(d)> d64;
  using V = hn::Vec<decltype(d)>;
  const V none = hn::Zero(d);
  const V ab = addPairs(v[0], kCount > 1 ? v[kCount > 1 ? 1 : 0] : none);
  const V cd = kCount > 2 ? addPairs(v[kCount > 2 ? 2 : 0], kCount > 3 ? v[kCount > 3 ? 3 : 0] : none) : none;
  const auto wideAb = hn::BitCast(d64, ab), wideCd = hn::BitCast(d64, cd);
  const V low = hn::BitCast(d, hn::InterleaveLower(d64, wideAb, wideCd));
  const V high = hn::BitCast(d, hn::InterleaveUpper(d64, wideAb, wideCd));
  hn::StoreU(sumOfBlocks(hn::Add(low, high)), hn::FixedTag<float, 4>(), to);
#endif
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
