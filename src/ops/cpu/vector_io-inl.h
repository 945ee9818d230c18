// SPDX-License-Identifier: Apache-2.0
// Loads and stores of the first lanes of a vector, without accessing memory
// past them. Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_VECTOR_IO_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_VECTOR_IO_INL_H
#undef MAX_OPS_CPU_VECTOR_IO_INL_H
#else
#define MAX_OPS_CPU_VECTOR_IO_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// True if the CPU has non-faulting masked loads and stores of 32-bit lanes.
#define MAX_MASKED_MEMORY (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

// Whether it has them for lanes of T, too.
template <class T>
constexpr bool kMasksMemory = HWY_TARGET == HWY_AVX3 || (MAX_MASKED_MEMORY && sizeof(T) >= 4);

// Lanes past `count` are 0.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> loadPartial(D d, const T* from, size_t count) {
  if constexpr (kMasksMemory<T>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)] = {};
    for (size_t i = 0; i < count; ++i) lanes[i] = from[i];
    return hn::Load(d, lanes);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void storePartial(hn::Vec<D> vector, D d, T* to, size_t count) {
  if constexpr (kMasksMemory<T>) {
    hn::BlendedStore(vector, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(vector, d, lanes);
    for (size_t i = 0; i < count; ++i) to[i] = lanes[i];
  }
}

// `left` lanes, 0 = all.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> loadLanes(D d, const T* from, size_t left) {
  return left == 0 ? hn::LoadU(d, from) : loadPartial(d, from, left);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void storeLanes(hn::Vec<D> vector, D d, T* to, size_t left) {
  if (left == 0)
    hn::StoreU(vector, d, to);
  else
    storePartial(vector, d, to, left);
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
