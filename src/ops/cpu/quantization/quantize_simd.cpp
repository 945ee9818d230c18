// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "ops/cpu/quantization/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/quantization/quantize_simd.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
constexpr int64_t kLanes = hn::MaxLanes(D());

using D32 = hn::Rebind<int32_t, D>;

// The product with the reciprocal is off by less than 2^-22 of the quotient, which leaves the nearest integer the same
// if it is closer than this. Of more than 8 bits it is nearly never close enough.
template <class Q>
constexpr float kSurelyRounded = sizeof(Q) == 1 ? 0.5f - 256.f / (1 << 22) : 0.f;

// Quotients within [low, high], rounded, as the bits of kRoundingMagic plus an integer. `distance` becomes the largest
// from an integer.
HWY_INLINE hn::Vec<D32> rounded(hn::Vec<D> quotient, hn::Vec<D> low, hn::Vec<D> high, hn::Vec<D>& distance) {
  const auto magic = hn::Set(D(), kRoundingMagic);
  // The second operand of Max is taken where the first is NaN.
  const auto bounded = hn::Min(hn::Max(quotient, low), high);
  const auto sum = hn::Add(bounded, magic);
  distance = hn::Max(distance, hn::Abs(hn::Sub(bounded, hn::Sub(sum, magic))));
  return hn::BitCast(D32(), sum);
}

template <class Q>
HWY_INLINE void storeNarrow(const hn::Vec<D32> (&numbers)[4], Q* y) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(Q) == 1) {
    const __m512i low = _mm512_packs_epi32(numbers[0].raw, numbers[1].raw);
    const __m512i high = _mm512_packs_epi32(numbers[2].raw, numbers[3].raw);
    const __m512i packed = std::is_signed_v<Q> ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
    // Packing interleaves quarters of the vectors.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(y, _mm512_permutexvar_epi32(order, packed));
    return;
  }
#endif
  const hn::Rebind<Q, D> narrow;
  MAX_UNROLL for (int v = 0; v < 4; ++v) hn::StoreU(hn::DemoteTo(narrow, numbers[v]), narrow, y + v * kLanes);
}

template <class Q>
void quantize(const float* x, Q* y, int64_t count, float scale, float zero) {
  constexpr int64_t kStep = 4 * kLanes;
  const D d;
  // Reciprocals of other scales lose digits.
  const bool usesReciprocal = sizeof(Q) == 1 && scale > 0x1p-100f && scale < 0x1p100f;
  const auto by = hn::Set(d, scale), reciprocal = hn::Set(d, 1 / scale);
  const auto low = hn::Set(d, static_cast<float>(std::numeric_limits<Q>::min()) - zero);
  const auto high = hn::Set(d, static_cast<float>(std::numeric_limits<Q>::max()) - zero);
  const auto offset = hn::Set(D32(), static_cast<int32_t>(zero) - std::bit_cast<int32_t>(kRoundingMagic));
  for (int64_t i = 0; i < count && count < kStep; ++i) y[i] = quantized<Q>(x[i], scale, zero);
  for (int64_t begin = 0; begin < count && count >= kStep; begin += kStep) {
    const int64_t i = std::min(begin, count - kStep);  // the last ones overlap
    hn::Vec<D32> numbers[4];
    auto distance = hn::Zero(d);
    if (usesReciprocal)
      MAX_UNROLL for (int v = 0; v < 4; ++v) numbers[v] =
          rounded(hn::Mul(hn::LoadU(d, x + i + v * kLanes), reciprocal), low, high, distance);
    if (!usesReciprocal || !hn::AllTrue(d, hn::Lt(distance, hn::Set(d, kSurelyRounded<Q>))))
      MAX_UNROLL for (int v = 0; v < 4; ++v) numbers[v] =
          rounded(hn::Div(hn::LoadU(d, x + i + v * kLanes), by), low, high, distance);
    MAX_UNROLL for (int v = 0; v < 4; ++v) numbers[v] = hn::Add(numbers[v], offset);
    storeNarrow(numbers, y + i);
  }
}

template <class Q>
void dequantize(const Q* x, float* y, int64_t count, float scale, float zero) {
  const D d;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<Q, D> narrow;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto value = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(narrow, x + i)));
    hn::StoreU(hn::Mul(hn::Sub(value, hn::Set(d, zero)), hn::Set(d, scale)), d, y + i);
  }
  for (; i < count; ++i) y[i] = (static_cast<float>(x[i]) - zero) * scale;
}

template <class From, class To, void (*kLoop)(const From*, To*, int64_t, float, float)>
void tileOf(const TileOperands& tile) {
  const bool isRepeated = tile.step[0] == 0;
  auto* to = static_cast<To*>(tile.dst);
  kLoop(static_cast<const From*>(tile.src[0]), to, isRepeated ? std::min<int64_t>(tile.count, 1) : tile.count,
        tile.alpha, tile.beta);
  for (int64_t i = 1; isRepeated && i < tile.count; ++i) to[i] = to[0];
}

template <class Q>
constexpr QuantizeLoops<Q> kLoopsOf = {quantize<Q>, dequantize<Q>, tileOf<float, Q, quantize<Q>>,
                                       tileOf<Q, float, dequantize<Q>>};

void range(const float* x, int64_t count, float& low, float& high) {
  const D d;
  auto least = hn::Set(d, low), most = hn::Set(d, high);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto value = hn::LoadU(d, x + i);
    least = hn::Min(value, least);
    most = hn::Max(value, most);
  }
  low = hn::GetLane(hn::MinOfLanes(d, least));
  high = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < count; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
}

}  // namespace

extern const QuantizeTable kQuantizeTable;
constexpr QuantizeTable kQuantizeTable = {
    {kLoopsOf<uint8_t>}, {kLoopsOf<int8_t>}, {kLoopsOf<uint16_t>}, {kLoopsOf<int16_t>}, range};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const QuantizeTable& quantizeTable() { return MAX_CHOOSE_TARGET(kQuantizeTable); }

namespace {

template <class Q>
TileFunction tileFunction(ElementOp op) {
  const QuantizeLoops<Q>& loops = quantizeTable().loops<Q>();
  return op == ElementOp::Quantize ? loops.quantizeTile : loops.dequantizeTile;
}

}  // namespace

TileFunction findQuantizeTileFunction(ElementOp op, DType from, DType to) {
  const bool quantizes = op == ElementOp::Quantize;
  if ((quantizes ? from : to) != DType::Float32) return nullptr;
  switch (quantizes ? to : from) {
    case DType::UInt8:
      return tileFunction<uint8_t>(op);
    case DType::Int8:
      return tileFunction<int8_t>(op);
    case DType::UInt16:
      return tileFunction<uint16_t>(op);
    case DType::Int16:
      return tileFunction<int16_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace max
#endif
