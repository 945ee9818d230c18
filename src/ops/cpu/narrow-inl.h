// SPDX-License-Identifier: Apache-2.0
// Loads and stores of float32 vectors that are bfloat16 or float16 in memory. Stores are rounded to nearest even. Only
// where mayBeNarrow() holds: with AVX-512 they are the chip's own conversion. Included after dispatch.h, once per
// target.

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

template <class V, class D = hn::DFromV<V>>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> toNarrow(V v) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(V) == 64) {
    __m256i narrow;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(narrow) : "v"(v.raw));  // not among what Highway takes AVX-512 to have
    return hn::Vec<hn::Rebind<uint16_t, D>>{narrow};
  }
#endif
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::BitCast(d32, v);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(last, hn::Set(d32, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));  // of a NaN
  const auto high = hn::ShiftRight<16>(hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(v)), quiet, rounded));
  return hn::TruncateTo(d16, high);
}

// The first `count` elements of 16 bits, which are fewer than there are in a vector.
template <class D16>
HWY_INLINE hn::Vec<D16> loadSome(D16 d16, const uint16_t* from, int64_t count) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(d16) == 16)
    return hn::Vec<D16>{_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1 << count) - 1), from)};
#endif
  return loadPartial(d16, from, static_cast<size_t>(count));
}

template <class D16>
HWY_INLINE void storeSome(hn::Vec<D16> v, D16 d16, uint16_t* to, int64_t count) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(d16) == 16)
    return _mm256_mask_storeu_epi16(to, static_cast<__mmask16>((1 << count) - 1), v.raw);
#endif
  storePartial(v, d16, to, static_cast<size_t>(count));
}

// The first `count` elements, which may be more than there are.
template <class V>
HWY_INLINE void storeNarrow(V v, uint16_t* to, int64_t count) {
  using D = hn::DFromV<V>;
  const hn::Rebind<uint16_t, D> d16;
  const auto narrow = toNarrow(v);
  if (count >= static_cast<int64_t>(hn::Lanes(D())))
    hn::StoreU(narrow, d16, to);
  else
    storeSome(narrow, d16, to, count);
}

// kHalf: float16, which only targets from AVX2 on convert as their chips do; else bfloat16.
template <bool kHalf>
HWY_INLINE hn::Vec<hn::ScalableTag<float>> floatsOf(hn::Vec<hn::Rebind<uint16_t, hn::ScalableTag<float>>> bits) {
  const hn::ScalableTag<float> d;
  if constexpr (kHalf) return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, decltype(d)>(), bits));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<decltype(d)>(), bits)));
}

// The first `count` elements as floats, which may be more than there are in a vector; the others are 0.
HWY_INLINE hn::Vec<hn::ScalableTag<float>> loadWide(const uint16_t* from, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  return floatsOf<false>(count >= static_cast<int64_t>(hn::Lanes(d)) ? hn::LoadU(d16, from)
                                                                     : loadSome(d16, from, count));
}

HWY_INLINE hn::Vec<hn::ScalableTag<float>> loadWide(const float* from, int64_t count) {
  return loadFirst(hn::ScalableTag<float>(), from, count);
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
