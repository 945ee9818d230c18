// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ops/cpu/quantization/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/quantization/quantize_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector_io-inl.h"

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
  const hn::Rebind<Q, D> narrow;
  // Reciprocals of other scales lose digits.
  const bool usesReciprocal = sizeof(Q) == 1 && scale > 0x1p-100f && scale < 0x1p100f;
  const auto by = hn::Set(d, scale), reciprocal = hn::Set(d, 1 / scale);
  const auto low = hn::Set(d, static_cast<float>(std::numeric_limits<Q>::min()) - zero);
  const auto high = hn::Set(d, static_cast<float>(std::numeric_limits<Q>::max()) - zero);
  const auto offset = hn::Set(D32(), static_cast<int32_t>(zero) - std::bit_cast<int32_t>(kRoundingMagic));
  if (count < kLanes) {
    for (int64_t i = 0; i < count; ++i) y[i] = quantized<Q>(x[i], scale, zero);
    return;
  }
  for (int64_t begin = 0; begin < count && count < kStep; begin += kLanes) {
    const int64_t i = std::min(begin, count - kLanes);
    auto distance = hn::Zero(d);
    const auto number = hn::Add(rounded(hn::Div(hn::LoadU(d, x + i), by), low, high, distance), offset);
    hn::StoreU(hn::DemoteTo(narrow, number), narrow, y + i);
  }
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

// Sums of two operands as quantised results. Two multiplications and additions in units of the result are off by less
// than `doubt`; where that leaves the nearest integer open, the sum is divided as written.
template <class Q>
class QuantizedSums {
 public:
  static constexpr int64_t kStep = 4 * kLanes;

  explicit QuantizedSums(const QuantizedSumNumbers& numbers)
      : numbers_(numbers),
        low_(hn::Set(D(), static_cast<float>(std::numeric_limits<Q>::min()) - numbers.resultZero)),
        high_(hn::Set(D(), static_cast<float>(std::numeric_limits<Q>::max()) - numbers.resultZero)),
        offset_(hn::Set(D32(), static_cast<int32_t>(numbers.resultZero) - std::bit_cast<int32_t>(kRoundingMagic))) {
    const float by0 = numbers.scale[0] / numbers.resultScale, by1 = numbers.scale[1] / numbers.resultScale;
    const float shift = -numbers.zero[0] * by0 - numbers.zero[1] * by1;
    by_[0] = hn::Set(D(), by0);
    by_[1] = hn::Set(D(), by1);
    shift_ = hn::Set(D(), shift);
    const float doubt = (std::abs(by0) + std::abs(by1)) * (512.f / (1 << 21));
    const bool isFinite = std::max(numbers.scale[0], numbers.scale[1]) < 0x1p100f;  // the numbers, and their sum
    sure_ = isFinite && doubt < 0.25f ? 0.5f - doubt : 0.f;                         // NaN, too
  }

  // kStep elements; those of an operand that is one repeated value do not move.
  HWY_INLINE void step(const Q* a, const Q* b, int64_t stepA, int64_t stepB, Q* y) const {
    const D d;
    hn::Vec<D32> numbers[4];
    auto distance = hn::Zero(d);
    MAX_UNROLL for (int v = 0; v < 4; ++v) {
      const auto second = hn::MulAdd(load(b + v * kLanes * stepB), by_[1], shift_);
      numbers[v] = rounded(hn::MulAdd(load(a + v * kLanes * stepA), by_[0], second), low_, high_, distance);
    }
    if (!hn::AllTrue(d, hn::Lt(distance, hn::Set(d, sure_)))) MAX_UNROLL for (int v = 0; v < 4; ++v) {
        const auto sum = hn::Add(real(a + v * kLanes * stepA, 0), real(b + v * kLanes * stepB, 1));
        numbers[v] = rounded(hn::Div(sum, hn::Set(d, numbers_.resultScale)), low_, high_, distance);
      }
    MAX_UNROLL for (int v = 0; v < 4; ++v) numbers[v] = hn::Add(numbers[v], offset_);
    storeNarrow(numbers, y);
  }

 private:
  static HWY_INLINE hn::Vec<D> load(const Q* from) {
    return hn::ConvertTo(D(), hn::PromoteTo(D32(), hn::LoadU(hn::Rebind<Q, D>(), from)));
  }
  HWY_INLINE hn::Vec<D> real(const Q* from, int operand) const {
    const D d;
    return hn::Mul(hn::Sub(load(from), hn::Set(d, numbers_.zero[operand])), hn::Set(d, numbers_.scale[operand]));
  }

  QuantizedSumNumbers numbers_;
  hn::Vec<D> by_[2], shift_, low_, high_;
  hn::Vec<D32> offset_;
  float sure_;  // distances from an integer below this leave no doubt
};

template <class Q>
void sumTile(const TileOperands& tile) {
  using Sums = QuantizedSums<Q>;
  const Sums sums(*static_cast<const QuantizedSumNumbers*>(tile.src[2]));
  const Q *a = static_cast<const Q*>(tile.src[0]), *b = static_cast<const Q*>(tile.src[1]);
  const int64_t stepA = tile.step[0], stepB = tile.step[1], whole = tile.count / Sums::kStep * Sums::kStep;
  Q* y = static_cast<Q*>(tile.dst);
  for (int64_t i = 0; i < whole; i += Sums::kStep) sums.step(a + i * stepA, b + i * stepB, stepA, stepB, y + i);
  if (whole == tile.count) return;
  const auto left = static_cast<size_t>(tile.count - whole);
  Q rest[2][Sums::kStep] = {};
  std::memcpy(rest[0], a + whole * stepA, stepA == 0 ? sizeof rest[0] : left);
  std::memcpy(rest[1], b + whole * stepB, stepB == 0 ? sizeof rest[1] : left);
  sums.step(rest[0], rest[1], stepA, stepB, rest[0]);
  std::memcpy(y + whole, rest[0], left);
}

template <class Q>
constexpr TileFunction sumTileOf() {
  if constexpr (sizeof(Q) == 1) return sumTile<Q>;
  return nullptr;
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

using D8 = hn::Rebind<uint8_t, D>;

// What the elements of a vector have for a scale or zero point: `left` lanes, 0 = all.
HWY_INLINE hn::Vec<D> scaleAt(const EachScale& place, int64_t i, size_t left) {
  const float* from = place.scales + (i >> place.shift);
  if (place.shift > 0) return hn::Set(D(), *from);
  return left == 0 ? hn::LoadU(D(), from) : loadPartial(D(), from, left);
}
// Bytes as unsigned ones.
HWY_INLINE hn::Vec<D32> flipped(const EachScale& place, const uint8_t* from, size_t left) {
  const auto bytes = left == 0 ? hn::LoadU(D8(), from) : loadPartial(D8(), from, left);
  return hn::PromoteTo(D32(), hn::Xor(bytes, hn::Set(D8(), place.flip)));
}
HWY_INLINE hn::Vec<D32> zeroAt(const EachScale& place, int64_t i, size_t left) {
  if (!place.zeros) return hn::Set(D32(), place.flip);
  const uint8_t* from = place.zeros + (i >> place.shift);
  return place.shift > 0 ? hn::Set(D32(), *from ^ place.flip) : flipped(place, from, left);
}

// A product with a reciprocal, checked as above, would take as long as this quotient.
HWY_INLINE hn::Vec<D32> wholeQuotient(hn::Vec<D> x, const EachScale& place, int64_t i, size_t left = 0) {
  const auto far = hn::Set(D(), kQuantizedFar<uint8_t>), magic = hn::Set(D(), kRoundingMagic);
  // The second operand of Max is taken where the first is NaN.
  const auto bounded = hn::Min(hn::Max(hn::Div(x, scaleAt(place, i, left)), hn::Neg(far)), far);
  const auto whole = hn::Sub(hn::BitCast(D32(), hn::Add(bounded, magic)), hn::BitCast(D32(), magic));
  return hn::Add(whole, zeroAt(place, i, left));
}

void quantizeEach(const void* from, void* to, int64_t count, const EachScale& place) {
  const float* x = static_cast<const float*>(from);
  auto* y = static_cast<uint8_t*>(to);
  const D d;
  const hn::Repartition<uint8_t, D> d8;
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    hn::Vec<D32> numbers[4];
    MAX_UNROLL for (int64_t v = 0; v < 4; ++v) numbers[v] =
        wholeQuotient(hn::LoadU(d, x + i + v * kLanes), place, i + v * kLanes);
    storeNarrow(numbers, y + i);
    if (place.flip) hn::StoreU(hn::Xor(hn::LoadU(d8, y + i), hn::Set(d8, place.flip)), d8, y + i);
  }
  for (; i < count; i += kLanes) {
    const auto left = static_cast<size_t>(std::min(count - i, kLanes));
    const auto number = hn::DemoteTo(D8(), wholeQuotient(loadPartial(d, x + i, left), place, i, left));
    storePartial(hn::Xor(number, hn::Set(D8(), place.flip)), D8(), y + i, left);
  }
}

void dequantizeEach(const void* from, void* to, int64_t count, const EachScale& scale) {
  const EachScale place = scale;  // which no store changes
  const auto* x = static_cast<const uint8_t*>(from);
  float* y = static_cast<float*>(to);
  const D d;
  for (int64_t i = 0; i < count; i += kLanes) {
    const auto left = static_cast<size_t>(count - i < kLanes ? count - i : 0);
    const auto number = hn::ConvertTo(d, hn::Sub(flipped(place, x + i, left), zeroAt(place, i, left)));
    const auto result = hn::Mul(number, scaleAt(place, i, left));
    if (left == 0)
      hn::StoreU(result, d, y + i);
    else
      storePartial(result, d, y + i, left);
  }
}

#define MAX_EACH_SCALE quantizeEach, dequantizeEach
#else
#define MAX_EACH_SCALE nullptr, nullptr
#endif

template <class Q>
constexpr QuantizeLoops<Q> kLoopsOf = {quantize<Q>, dequantize<Q>, tileOf<float, Q, quantize<Q>>,
                                       tileOf<Q, float, dequantize<Q>>, sumTileOf<Q>()};

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
    {kLoopsOf<uint8_t>}, {kLoopsOf<int8_t>}, {kLoopsOf<uint16_t>}, {kLoopsOf<int16_t>}, range, MAX_EACH_SCALE};
#undef MAX_EACH_SCALE

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const QuantizeTable& quantizeTable() { return MAX_CHOOSE_TARGET(kQuantizeTable); }

namespace {

template <class Q>
TileFunction tileFunction(ElementOp op, DType from) {
  const QuantizeLoops<Q>& loops = quantizeTable().loops<Q>();
  if (op == ElementOp::Quantize && from != DType::Float32) return loops.sumTile;
  return op == ElementOp::Quantize ? loops.quantizeTile : loops.dequantizeTile;
}

}  // namespace

TileFunction findQuantizeTileFunction(ElementOp op, DType from, DType to) {
  const bool quantizes = op == ElementOp::Quantize;
  if (quantizes ? from != DType::Float32 && from != to : to != DType::Float32) return nullptr;
  switch (quantizes ? to : from) {
    case DType::UInt8:
      return tileFunction<uint8_t>(op, from);
    case DType::Int8:
      return tileFunction<int8_t>(op, from);
    case DType::UInt16:
      return tileFunction<uint16_t>(op, from);
    case DType::Int16:
      return tileFunction<int16_t>(op, from);
    default:
      return nullptr;
  }
}

}  // namespace max
#endif
