// SPDX-License-Identifier: Apache-2.0
// Loads and stores of float32 vectors that are bfloat16 in memory. Stores are rounded to nearest even as the chip's own
// conversion does, except that small numbers stay. Included after dispatch.h, once per target.

#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_NARROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_NARROW_INL_H
#undef MAX_OPS_CPU_NARROW_INL_H
#else
#define MAX_OPS_CPU_NARROW_INL_H
#endif

#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The first `count` elements, which may be more than there are.
template <class V>
HWY_INLINE void storeNarrow(V v, uint16_t* to, int64_t count) {
  using D = hn::DFromV<V>;
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::BitCast(d32, v);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(last, hn::Set(d32, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));  // of a NaN
  const auto high = hn::ShiftRight<16>(hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(v)), quiet, rounded));
  const auto narrow = hn::TruncateTo(d16, high);
  if (count >= static_cast<int64_t>(hn::Lanes(D())))
    hn::StoreU(narrow, d16, to);
  else
    storePartialBytes(narrow, d16, to, static_cast<size_t>(count));
}

// The first `count` elements as floats, which may be more than there are in a vector; the others are 0.
HWY_INLINE hn::Vec<hn::ScalableTag<float>> loadWide(const uint16_t* from, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const auto narrow = count >= static_cast<int64_t>(hn::Lanes(d))
                          ? hn::LoadU(d16, from)
                          : loadPartialBytes(d16, from, static_cast<size_t>(count));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, narrow)));
}

HWY_INLINE hn::Vec<hn::ScalableTag<float>> loadWide(const float* from, int64_t count) {
  return loadFirst(hn::ScalableTag<float>(), from, count);
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
