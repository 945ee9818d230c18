// SPDX-License-Identifier: Apache-2.0
// Conversions between float32 and the 16-bit floating-point types, for CPU targets with instructions for them, of
// conditions to float32, of float32 to integers, and of 64 bits.
#include <type_traits>

#include "ops/cpu/elementwise/cast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/cast_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Highway's own conversions of the older targets do not round to nearest even.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;
using D16 = hn::Rebind<uint16_t, F>;
using DHalf = hn::Rebind<hwy::float16_t, F>;

hn::Vec<D16> bitsOf(V x, bool isHalf) {
  const F d;
  const hn::RebindToUnsigned<F> du;
  const hn::RebindToSigned<F> di;
  if (isHalf) return hn::BitCast(D16(), hn::DemoteTo(DHalf(), x));
  const auto bits = hn::BitCast(du, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40));
  const auto result = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), quiet, rounded);
  (void)d;
  return hn::DemoteTo(D16(), hn::BitCast(di, result));
}

// A whole number of vectors, or one that is copied out of and into the tile.
template <bool kHalf>
void widen(const TileOperands& tile) {
  const F d;
  const D16 d16;
  const auto* from = static_cast<const uint16_t*>(tile.src[0]);
  auto* to = static_cast<float*>(tile.dst);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), step = tile.step[0], count = tile.count;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(floatsOf<kHalf>(hn::LoadU(d16, from + i * step)), d, to + i);
  if (i == count) return;
  HWY_ALIGN uint16_t in[hn::MaxLanes(d16)] = {};
  HWY_ALIGN float out[hn::MaxLanes(d)];
  for (int64_t k = 0; k < count - i; ++k) in[k] = from[(i + k) * step];
  hn::Store(floatsOf<kHalf>(hn::Load(d16, in)), d, out);
  for (int64_t k = 0; k < count - i; ++k) to[i + k] = out[k];
}

template <bool kHalf>
void narrow(const TileOperands& tile) {
  const F d;
  const D16 d16;
  const auto* from = static_cast<const float*>(tile.src[0]);
  auto* to = static_cast<uint16_t*>(tile.dst);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), step = tile.step[0], count = tile.count;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(bitsOf(hn::LoadU(d, from + i * step), kHalf), d16, to + i);
  if (i == count) return;
  HWY_ALIGN float in[hn::MaxLanes(d)] = {};
  HWY_ALIGN uint16_t out[hn::MaxLanes(d16)];
  for (int64_t k = 0; k < count - i; ++k) in[k] = from[(i + k) * step];
  hn::Store(bitsOf(hn::Load(d, in), kHalf), d16, out);
  for (int64_t k = 0; k < count - i; ++k) to[i + k] = out[k];
}

void floatFromBool(const TileOperands& tile) {
  const F d;
  const hn::Rebind<uint8_t, F> d8;
  const hn::RebindToSigned<F> di;
  const auto* from = static_cast<const uint8_t*>(tile.src[0]);
  auto* to = static_cast<float*>(tile.dst);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; tile.step[0] == 1 && i + lanes <= tile.count; i += lanes) {
    const auto isFalse = hn::Eq(hn::PromoteTo(di, hn::LoadU(d8, from + i)), hn::Zero(di));
    hn::StoreU(hn::IfThenZeroElse(hn::RebindMask(d, isFalse), hn::Set(d, 1.f)), d, to + i);
  }
  for (; i < tile.count; ++i) to[i] = from[i * tile.step[0]] != 0 ? 1.f : 0.f;
}

// NaN is 0; what is out of range becomes the nearest limit.
template <class T>
void integersFromFloat(const TileOperands& tile) {
  constexpr bool kNarrow = sizeof(T) < sizeof(float);
  const std::conditional_t<kNarrow, hn::Rebind<T, F>, hn::ScalableTag<T>> di;
  const hn::Rebind<float, decltype(di)> d;
  using Floats = hn::Vec<decltype(d)>;
  const auto convert = [di](Floats x) HWY_ATTR {
    const auto number = hn::IfThenElseZero(hn::Eq(x, x), x);
    if constexpr (sizeof(T) == 8)
      return hn::ConvertTo(di, hn::PromoteTo(hn::RebindToFloat<decltype(di)>(), number));
    else if constexpr (kNarrow)
      return hn::DemoteTo(di, hn::ConvertTo(hn::RebindToSigned<F>(), number));
    else
      return hn::ConvertTo(di, number);
  };
  const auto* from = static_cast<const float*>(tile.src[0]);
  auto* to = static_cast<T*>(tile.dst);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= tile.count; i += lanes) hn::StoreU(convert(hn::LoadU(d, from + i * tile.step[0])), di, to + i);
  if (i == tile.count) return;
  HWY_ALIGN float in[hn::MaxLanes(d)] = {};
  HWY_ALIGN T out[hn::MaxLanes(di)];
  for (int64_t k = 0; k < tile.count - i; ++k) in[k] = from[(i + k) * tile.step[0]];
  hn::Store(convert(hn::Load(d, in)), di, out);
  for (int64_t k = 0; k < tile.count - i; ++k) to[i + k] = out[k];
}

#if HWY_TARGET == HWY_AVX3

// From 64 bits; of bool, whether it is not 0. NaN is 0 or true, and what is out of range becomes the nearest limit.
template <class From, class To>
void fromWide(const TileOperands& tile) {
  using Stored = std::conditional_t<std::is_same_v<To, bool>, uint8_t, To>;
  const hn::ScalableTag<From> d;
  const hn::Rebind<Stored, decltype(d)> to;
  const auto convert = [=](hn::Vec<decltype(d)> x) HWY_ATTR {
    if constexpr (std::is_same_v<To, bool>) {
      const hn::ScalableTag<uint64_t> du;
      const auto isZero = hn::RebindMask(du, hn::Eq(x, hn::Zero(d)));
      return hn::TruncateTo(to, hn::IfThenZeroElse(isZero, hn::Set(du, 1)));
    } else {
      const auto number = hn::IfThenElseZero(hn::Eq(x, x), x);
      if constexpr (sizeof(To) < sizeof(From))
        return hn::DemoteTo(to, number);
      else
        return hn::ConvertTo(to, number);
    }
  };
  const auto* from = static_cast<const From*>(tile.src[0]);
  auto* result = static_cast<Stored*>(tile.dst);
  const int64_t step = tile.step[0], count = tile.count, lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
#pragma GCC unroll 1
  for (; i + lanes <= count; i += lanes) hn::StoreU(convert(hn::LoadU(d, from + i * step)), to, result + i);
  const auto left = static_cast<size_t>(count - i);
  const auto last = convert(hn::MaskedLoad(hn::FirstN(d, left), d, from + i * step));
  hn::BlendedStore(last, hn::FirstN(to, left), to, result + i);
}

#define MAX_WIDE_CASTS                                                                                       \
  {                                                                                                          \
    fromWide<double, int32_t>, fromWide<double, int64_t>, fromWide<double, bool>, fromWide<int64_t, double>, \
        fromWide<int64_t, bool>                                                                              \
  }
#else
#define MAX_WIDE_CASTS \
  {}
#endif

// Without instructions for them, conversions to 64 bits take longer than one number after the other.
#if HWY_TARGET == HWY_AVX3
constexpr TileFunction kLongsFromFloat = integersFromFloat<int64_t>;
#else
constexpr TileFunction kLongsFromFloat = nullptr;
#endif

#define MAX_CAST_TABLE                                                                                 \
  {                                                                                                    \
    widen<true>, widen<false>, narrow<true>, narrow<false>, floatFromBool, integersFromFloat<int32_t>, \
        kLongsFromFloat, integersFromFloat<uint8_t>, integersFromFloat<int8_t>, MAX_WIDE_CASTS         \
  }
#else
#define MAX_CAST_TABLE \
  {}
#endif

}  // namespace

extern const CastTable kCastTable;
const CastTable kCastTable = MAX_CAST_TABLE;
#undef MAX_CAST_TABLE

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const CastTable& castTable() { return MAX_CHOOSE_TARGET(kCastTable); }
}  // namespace max
#endif
