// SPDX-License-Identifier: Apache-2.0
// Products of pairs of int16, the words of integer products without VNNI.
// Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_PAIRS_INL_H
#undef MAX_OPS_CPU_PAIRS_INL_H
#else
#define MAX_OPS_CPU_PAIRS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// sum + a.low * b.low + a.high * b.high of every pair.
template <class V32>
HWY_INLINE V32 multiplyPairs(V32 a, V32 b, V32 sum) {
  using D32 = hn::DFromV<V32>;
#if HWY_TARGET == HWY_SCALAR
  const auto x = static_cast<uint32_t>(hn::GetLane(a)), y = static_cast<uint32_t>(hn::GetLane(b));
  const auto part = [](uint32_t word) { return static_cast<int32_t>(static_cast<int16_t>(word)); };
  const int32_t products = part(x) * part(y) + part(x >> 16) * part(y >> 16);
  return hn::Set(D32(),
                 static_cast<int32_t>(static_cast<uint32_t>(hn::GetLane(sum)) + static_cast<uint32_t>(products)));
#else
  const hn::Repartition<int16_t, D32> d16;
  V32 unused = hn::Zero(D32());
  return hn::ReorderWidenMulAccumulate(D32(), hn::BitCast(d16, a), hn::BitCast(d16, b), sum, unused);
#endif
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
