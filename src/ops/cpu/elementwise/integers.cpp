// SPDX-License-Identifier: Apache-2.0
// Arithmetic of int32 and int64 in vectors wider than those of plain loops. Quotients and remainders, of bytes, too,
// are computed in float or double, which have the numbers that occur.
#include "ops/cpu/elementwise/integers.h"

#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/integers.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class T, class D>
using Integers = hn::Rebind<T, D>;

// Of magnitudes up to 2^47, a quotient is off by at least 2^-47 of itself from the next whole number above it, and in
// double a product with a reciprocal by less than 2^-51. Multiplied by this it is at least the quotient, and below that
// number. The same goes for magnitudes up to 2^21 in float.
template <class F>
constexpr F kUpwards = sizeof(F) == 8 ? static_cast<F>(1 + 0x1p-50) : static_cast<F>(1 + 0x1p-22);
template <class F>
constexpr int kBits = sizeof(F) == 8 ? 47 : 21;

// Whether all are in [-2^kBits, 2^kBits).
template <class F, class DI, class VI = hn::Vec<DI>>
HWY_INLINE bool areShort(F, DI di, VI x, VI y) {
  const VI offset = hn::Set(di, hn::TFromD<DI>{1} << kBits<F>);
  const VI above = hn::Set(di, hn::TFromD<DI>(~hn::TFromD<DI>{0}) << (kBits<F> + 1));
  const VI bits = hn::And(hn::Or(hn::Add(x, offset), hn::Add(y, offset)), above);
  return hn::AllTrue(di, hn::Eq(bits, hn::Zero(di)));
}

// 1 / y, rounded or off by the last bit. Chips with AVX-512 multiply faster than they divide.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverseOf(D d, V y) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const V estimate = hn::ApproximateReciprocal(y);
    return hn::MulAdd(estimate, hn::NegMulAdd(estimate, y, hn::Set(d, 1.f)), estimate);
  }
#endif
  return hn::Div(hn::Set(d, 1), y);
}
// For bytes, whose quotients are off by at least 2^-9 of themselves from the next whole number, or in Mod from both, an
// estimate is enough.
template <class F>
constexpr F kUpwardsOfBytes = static_cast<F>(1 + 0x1p-12);
template <class D, class V = hn::Vec<D>>
HWY_INLINE V estimateOf(D d, V y) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::ApproximateReciprocal(y);
#endif
  return inverseOf(d, y);
}
// The low bits of this number and of its sum with a whole number are those of the whole number.
template <class F>
constexpr F kOffset = sizeof(F) == 8 ? static_cast<F>(0x1.8p52) : static_cast<F>(0x1.8p23);

template <class D, class DI, class VI = hn::Vec<DI>>
HWY_INLINE hn::Vec<D> toFloats(D d, DI di, VI x) {
  if constexpr (sizeof(hn::TFromD<DI>) == 8) {
    const auto offset = hn::Set(d, kOffset<double>);
    return hn::Sub(hn::BitCast(d, hn::Add(x, hn::BitCast(di, offset))), offset);
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::PromoteTo(d, x);
  } else if constexpr (sizeof(hn::TFromD<DI>) == 1) {
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), x));
  } else {
    return hn::ConvertTo(d, x);
  }
}

template <class D, class DI, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<DI> toIntegers(D d, DI di, V x) {
  using F = hn::TFromD<D>;
  if constexpr (sizeof(hn::TFromD<DI>) == sizeof(F)) {
    const V offset = hn::Set(d, kOffset<F>);
    return hn::Sub(hn::BitCast(di, hn::Add(x, offset)), hn::BitCast(di, offset));
  } else {
    using T = hn::TFromD<DI>;
    // The smallest number divided by -1 is itself. No quotient of unsigned ones is that large.
    const V end = hn::Set(d, static_cast<F>(std::numeric_limits<T>::max()) + 1);
    const V inside = hn::IfThenElse(hn::Eq(x, end), hn::Neg(end), x);
    if constexpr (sizeof(T) == 1)
      return hn::DemoteTo(di, hn::ConvertTo(hn::RebindToSigned<D>(), inside));
    else
      return hn::DemoteTo(di, inside);
  }
}

// The quotient, or the rest that `op` defines. The quotient of half a unit more than the dividend lies between whole
// numbers, half a unit or more of the divisor away from them: rounded down it leaves a rest with the divisor's sign.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V resultOf(D d, ElementOp op, V x, V y, V factor) {
  if (op == ElementOp::Mod) {
    const V half = hn::CopySignToAbs(hn::Set(d, hn::TFromD<D>(0.5)), y);
    return hn::NegMulAdd(hn::Floor(hn::Mul(hn::Add(x, half), factor)), y, x);
  }
  const V quotient = hn::Trunc(hn::Mul(x, factor));
  return op == ElementOp::Div ? quotient : hn::NegMulAdd(quotient, y, x);
}

template <class T>
constexpr DType kDType = std::is_same_v<T, int64_t>   ? DType::Int64
                         : std::is_same_v<T, int32_t> ? DType::Int32
                         : std::is_same_v<T, int8_t>  ? DType::Int8
                                                      : DType::UInt8;

// In numbers of F; what is too long for these is left to the next wider ones.
template <class T, class F>
HWY_NOINLINE void divide(const TileOperands& operands, ElementOp op) {
  const TileOperands tile = operands;
  const hn::ScalableTag<F> d;
  const Integers<T, decltype(d)> di;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *x = static_cast<const T*>(tile.src[0]), *y = static_cast<const T*>(tile.src[1]);
  const auto divideLong = [&](int64_t begin, int64_t count) {
    if constexpr (std::is_same_v<F, float> && sizeof(T) == sizeof(F))
      divide<T, double>(partOf(tile, begin, count, sizeof(T), sizeof(T)), op);
    else
      computePlain(tile, op, kDType<T>, begin, count, sizeof(T));
  };
  constexpr F kUp = sizeof(T) == 1 ? kUpwardsOfBytes<F> : kUpwards<F>;
  const V upwards = hn::Set(d, op == ElementOp::Mod ? F{1} : kUp);
  const auto reciprocal = [&](V number) HWY_ATTR {
    return hn::Mul(sizeof(T) == 1 ? estimateOf(d, number) : inverseOf(d, number), upwards);
  };
  V divisor = hn::Set(d, static_cast<F>(*y)), factor = reciprocal(divisor);
  int64_t i = 0;
  for (; i + lanes <= tile.count; i += lanes) {
    const auto a = hn::LoadU(di, x + i * tile.step[0]), b = hn::LoadU(di, y + i * tile.step[1]);
    constexpr bool kFitsAlways = sizeof(T) < sizeof(F);
    if constexpr (!kFitsAlways) {
      if (HWY_UNLIKELY(!areShort(F{}, di, a, b))) {
        divideLong(i, lanes);
        continue;
      }
    }
    if (tile.step[1] != 0) {
      divisor = toFloats(d, di, b);
      factor = reciprocal(divisor);
    }
    const V result = resultOf(d, op, toFloats(d, di, a), divisor, factor);
    const V defined = hn::IfThenZeroElse(hn::Eq(divisor, hn::Zero(d)), result);
    hn::StoreU(toIntegers(d, di, defined), di, static_cast<T*>(tile.dst) + i);
  }
  if (i < tile.count) divideLong(i, tile.count - i);
}

template <ElementOp kOp>
TileFunction findFor(DType dtype) {
  if (dtype == DType::Int32) return [](const TileOperands& tile) { divide<int32_t, float>(tile, kOp); };
  if (dtype == DType::Int64) return [](const TileOperands& tile) { divide<int64_t, double>(tile, kOp); };
#if HWY_TARGET == HWY_AVX3
  if (dtype == DType::Int8) return [](const TileOperands& tile) { divide<int8_t, float>(tile, kOp); };
  if (dtype == DType::UInt8) return [](const TileOperands& tile) { divide<uint8_t, float>(tile, kOp); };
#endif
  return nullptr;
}

// The baseline's vectors are as wide as those of the older targets.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

template <class DT>
HWY_INLINE void storeResult(hn::Vec<DT> result, DT d, void* to, int64_t i) {
  hn::StoreU(result, d, static_cast<hn::TFromD<DT>*>(to) + i);
}
// A mask becomes bytes 0 and 1.
template <class DT>
HWY_INLINE void storeResult(hn::Mask<DT> result, DT, void* to, int64_t i) {
  const hn::RebindToUnsigned<DT> du;
  const hn::Rebind<uint8_t, DT> d8;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(du, result), hn::Set(du, 1));
  hn::StoreU(hn::TruncateTo(d8, ones), d8, static_cast<uint8_t*>(to) + i);
}

// Unary ones ignore the second operand.
template <ElementOp kOp, class T>
void each(const TileOperands& operands) {
  TileOperands tile = operands;
  if constexpr (kOp == ElementOp::Neg || kOp == ElementOp::Abs || kOp == ElementOp::BitwiseNot) {
    tile.src[1] = tile.src[0];
    tile.step[1] = tile.step[0];
  }
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *x = static_cast<const T*>(tile.src[0]), *y = static_cast<const T*>(tile.src[1]);
  int64_t i = 0;
  for (; i + lanes <= tile.count; i += lanes) {
    const auto a = hn::LoadU(d, x + i * tile.step[0]), b = hn::LoadU(d, y + i * tile.step[1]);
    if constexpr (kOp == ElementOp::Add) storeResult(hn::Add(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Sub) storeResult(hn::Sub(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Mul) storeResult(hn::Mul(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Min) storeResult(hn::Min(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Max) storeResult(hn::Max(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Neg) storeResult(hn::Neg(a), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Abs) storeResult(hn::Abs(a), d, tile.dst, i);
    if constexpr (kOp == ElementOp::BitwiseNot) storeResult(hn::Not(a), d, tile.dst, i);
    if constexpr (kOp == ElementOp::BitwiseAnd) storeResult(hn::And(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::BitwiseOr) storeResult(hn::Or(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::BitwiseXor) storeResult(hn::Xor(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Equal) storeResult(hn::Eq(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::Less) storeResult(hn::Lt(a, b), d, tile.dst, i);
    if constexpr (kOp == ElementOp::LessOrEqual) storeResult(hn::Not(hn::Lt(b, a)), d, tile.dst, i);
  }
  if (i < tile.count) computePlain(tile, kOp, kDType<T>, i, tile.count - i, infoOf(kOp).givesBool() ? 1 : sizeof(T));
}

template <ElementOp kOp>
TileFunction findEach(DType dtype) {
  return dtype == DType::Int32 ? each<kOp, int32_t> : dtype == DType::Int64 ? each<kOp, int64_t> : nullptr;
}

// a > b is b < a.
template <ElementOp kOp>
TileFunction findSwapped(DType dtype) {
  const auto swapped = [](const TileOperands& tile) {
    TileOperands other = tile;
    std::swap(other.src[0], other.src[1]);
    std::swap(other.step[0], other.step[1]);
    return other;
  };
  if (dtype == DType::Int32) return [](const TileOperands& tile) { each<kOp, int32_t>(decltype(swapped)()(tile)); };
  if (dtype == DType::Int64) return [](const TileOperands& tile) { each<kOp, int64_t>(decltype(swapped)()(tile)); };
  return nullptr;
}

TileFunction findWide(ElementOp op, DType dtype) {
  switch (op) {
#define MAX_EACH(name)  \
  case ElementOp::name: \
    return findEach<ElementOp::name>(dtype);
    MAX_EACH(Add)
    MAX_EACH(Sub)
    MAX_EACH(Mul)
    MAX_EACH(Min)
    MAX_EACH(Max)
    MAX_EACH(Neg)
    MAX_EACH(Abs)
    MAX_EACH(BitwiseNot)
    MAX_EACH(BitwiseAnd)
    MAX_EACH(BitwiseOr)
    MAX_EACH(BitwiseXor)
    MAX_EACH(Equal)
    MAX_EACH(Less)
    MAX_EACH(LessOrEqual)
#undef MAX_EACH
    case ElementOp::Greater:
      return findSwapped<ElementOp::Less>(dtype);
    case ElementOp::GreaterOrEqual:
      return findSwapped<ElementOp::LessOrEqual>(dtype);
    default:
      return nullptr;
  }
}
#else
TileFunction findWide(ElementOp, DType) { return nullptr; }
#endif

TileFunction find(ElementOp op, DType dtype) {
  if (HWY_TARGET == HWY_SCALAR) return nullptr;
  switch (op) {
    case ElementOp::Div:
      return findFor<ElementOp::Div>(dtype);
    case ElementOp::Mod:
      return findFor<ElementOp::Mod>(dtype);
    case ElementOp::Fmod:
      return findFor<ElementOp::Fmod>(dtype);
    default:
      return findWide(op, dtype);
  }
}

}  // namespace

extern const IntegerTable kIntegerTable;
const IntegerTable kIntegerTable = {find};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

HWY_NOINLINE TileOperands partOf(const TileOperands& tile, int64_t begin, int64_t count, size_t bytes,
                                 size_t resultBytes) {
  TileOperands part = tile;
  part.count = count;
  part.dst = static_cast<std::byte*>(tile.dst) + static_cast<size_t>(begin) * resultBytes;
  for (int i = 0; i < 2; ++i)
    part.src[i] = static_cast<const std::byte*>(tile.src[i]) + begin * tile.step[i] * static_cast<int64_t>(bytes);
  return part;
}

HWY_NOINLINE void computePlain(const TileOperands& tile, ElementOp op, DType dtype, int64_t begin, int64_t count,
                               size_t resultBytes) {
  findPlainTileFunction(op, dtype)(partOf(tile, begin, count, sizeOf(dtype), resultBytes));
}

TileFunction findIntegerTileFunction(ElementOp op, DType dtype) {
  return MAX_CHOOSE_TARGET(kIntegerTable).find(op, dtype);
}

}  // namespace max
#endif
