// SPDX-License-Identifier: Apache-2.0
// Rows of vectors, each lane of which is read from a place of its own, of any alignment.
// Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_TRANSPOSE_INL_H
#undef MAX_OPS_CPU_TRANSPOSE_INL_H
#else
#define MAX_OPS_CPU_TRANSPOSE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Four elements of column `n`, of the fourth column after it, and so on.
template <class D>
HWY_INLINE hn::Vec<D> everyFourth(D d, const float* const* columns, int64_t at) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, columns[0] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, everyFourth(half, columns + hn::MaxLanes(half), at), everyFourth(half, columns, at));
  }
}

// Four rows, which are contiguous in each column.
HWY_INLINE void transposeFour(const float* const* columns, int64_t at, hn::Vec<hn::ScalableTag<float>>* rows) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto r0 = everyFourth(d, columns, at), r1 = everyFourth(d, columns + 1, at);
  const auto r2 = everyFourth(d, columns + 2, at), r3 = everyFourth(d, columns + 3, at);
  const auto low01 = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
  rows[0] = hn::BitCast(d, hn::InterleaveLower(dd, low01, low23));
  rows[1] = hn::BitCast(d, hn::InterleaveUpper(dd, low01, low23));
  rows[2] = hn::BitCast(d, hn::InterleaveLower(dd, high01, high23));
  rows[3] = hn::BitCast(d, hn::InterleaveUpper(dd, high01, high23));
}
#endif

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
