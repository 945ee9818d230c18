// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vectors that may be the last, partial one of a row.
// Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_VECTOR_INL_H
#undef MAX_OPS_CPU_VECTOR_INL_H
#else
#define MAX_OPS_CPU_VECTOR_INL_H
#endif

#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// `count` may exceed the vector; missing lanes are 0.
template <class D>
HWY_INLINE hn::Vec<D> loadFirst(D d, const float* from, int64_t count) {
#if HWY_TARGET != HWY_AVX3
  if (HWY_LIKELY(count >= static_cast<int64_t>(hn::MaxLanes(d)))) return hn::LoadU(d, from);
#endif
  return loadPartial(d, from, static_cast<size_t>(count));
}

template <class D>
HWY_INLINE void storeFirst(D d, hn::Vec<D> v, float* to, int64_t count) {
#if HWY_TARGET != HWY_AVX3
  if (HWY_LIKELY(count >= static_cast<int64_t>(hn::MaxLanes(d)))) return hn::StoreU(v, d, to);
#endif
  storePartial(v, d, to, static_cast<size_t>(count));
}

template <class D>
HWY_INLINE float sumOf(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
