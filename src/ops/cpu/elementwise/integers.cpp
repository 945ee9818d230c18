// SPDX-License-Identifier: Apache-2.0
// Arithmetic of int32 and int64 in vectors wider than those of plain loops. Quotients and remainders are computed in
// double, which has the numbers that occur.
#include "ops/cpu/elementwise/integers.h"

#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/integers.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
template <class T>
using Integers = hn::Rebind<T, D>;

// Of magnitudes up to 2^47, a quotient is off by less than 2^-47 of itself from the next whole number above it, and a
// product with a reciprocal by less than 2^-51. Multiplied by this it is at least the quotient, and below that number.
constexpr double kUpwards = 1 + 0x1p-50;

// Whether all are in [-2^47, 2^47).
template <class VI>
HWY_INLINE bool areShort(VI x, VI y) {
  const Integers<int64_t> di;
  const Integers<uint64_t> du;
  const VI offset = hn::Set(di, int64_t{1} << 47);
  const auto bits = hn::BitCast(du, hn::Or(hn::Add(x, offset), hn::Add(y, offset)));
  return hn::AllTrue(du, hn::Eq(hn::ShiftRight<48>(bits), hn::Zero(du)));
}

// The low bits of this double and of its sum with a whole number are those of the number.
constexpr double kOffset = 0x1.8p52;

template <class VI>
HWY_INLINE V toDoubles(Integers<int64_t> di, VI x) {
  const D d;
  const V offset = hn::Set(d, kOffset);
  return hn::Sub(hn::BitCast(d, hn::Add(x, hn::BitCast(di, offset))), offset);
}
template <class VI>
HWY_INLINE V toDoubles(Integers<int32_t>, VI x) {
  return hn::PromoteTo(D(), x);
}

HWY_INLINE hn::Vec<Integers<int64_t>> toIntegers(Integers<int64_t> di, V x) {
  const D d;
  const V offset = hn::Set(d, kOffset);
  return hn::Sub(hn::BitCast(di, hn::Add(x, offset)), hn::BitCast(di, offset));
}
// The smallest number divided by -1 is itself.
HWY_INLINE hn::Vec<Integers<int32_t>> toIntegers(Integers<int32_t> di, V x) {
  const D d;
  const V end = hn::Set(d, 0x1p31);
  return hn::DemoteTo(di, hn::IfThenElse(hn::Eq(x, end), hn::Neg(end), x));
}

// The rest that `op` defines, of the truncated quotient.
HWY_INLINE V restOf(ElementOp op, V x, V y, V quotient) {
  const D d;
  const V rest = hn::NegMulAdd(quotient, y, x);
  if (op == ElementOp::Fmod) return rest;
  return hn::IfThenElse(hn::Lt(hn::Mul(rest, y), hn::Zero(d)), hn::Add(rest, y), rest);
}

template <class T>
constexpr DType kDType = std::is_same_v<T, int64_t> ? DType::Int64 : DType::Int32;

template <class T>
HWY_NOINLINE void divide(const TileOperands& tile, ElementOp op) {
  const D d;
  const Integers<T> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *x = static_cast<const T*>(tile.src[0]), *y = static_cast<const T*>(tile.src[1]);
  const auto reciprocal = [&](V number)
                              HWY_ATTR { return hn::Mul(hn::Div(hn::Set(d, 1.0), number), hn::Set(d, kUpwards)); };
  V divisor = hn::Set(d, static_cast<double>(*y)), factor = reciprocal(divisor);
  int64_t i = 0;
  for (; i + lanes <= tile.count; i += lanes) {
    const auto a = hn::LoadU(di, x + i * tile.step[0]), b = hn::LoadU(di, y + i * tile.step[1]);
    if constexpr (std::is_same_v<T, int64_t>) {
      if (HWY_UNLIKELY(!areShort(a, b))) {
        computePlain(tile, op, kDType<T>, i, lanes, sizeof(T));
        continue;
      }
    }
    if (tile.step[1] != 0) {
      divisor = toDoubles(di, b);
      factor = reciprocal(divisor);
    }
    const V dividend = toDoubles(di, a), quotient = hn::Trunc(hn::Mul(dividend, factor));
    const V result = op == ElementOp::Div ? quotient : restOf(op, dividend, divisor, quotient);
    const V defined = hn::IfThenZeroElse(hn::Eq(divisor, hn::Zero(d)), result);
    hn::StoreU(toIntegers(di, defined), di, static_cast<T*>(tile.dst) + i);
  }
  if (i < tile.count) computePlain(tile, op, kDType<T>, i, tile.count - i, sizeof(T));
}

template <ElementOp kOp>
TileFunction findFor(DType dtype) {
  if (dtype == DType::Int32) return [](const TileOperands& tile) { divide<int32_t>(tile, kOp); };
  if (dtype == DType::Int64) return [](const TileOperands& tile) { divide<int64_t>(tile, kOp); };
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
HWY_INLINE void storeResult(hn::Mask<DT> result, DT d, void* to, int64_t i) {
  const hn::RebindToUnsigned<DT> du;
  const hn::Rebind<uint8_t, DT> d8;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(du, result), hn::Set(du, 1));
  hn::StoreU(hn::TruncateTo(d8, ones), d8, static_cast<uint8_t*>(to) + i);
}

template <ElementOp kOp, class T>
void each(const TileOperands& operands) {
  const TileOperands tile = operands;
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

void computePlain(const TileOperands& tile, ElementOp op, DType dtype, int64_t begin, int64_t count,
                  size_t resultBytes) {
  const auto size = static_cast<int64_t>(sizeOf(dtype));
  TileOperands part = tile;
  part.count = count;
  part.dst = static_cast<std::byte*>(tile.dst) + static_cast<size_t>(begin) * resultBytes;
  for (int i = 0; i < 2; ++i) part.src[i] = static_cast<const std::byte*>(tile.src[i]) + begin * tile.step[i] * size;
  findPlainTileFunction(op, dtype)(part);
}

TileFunction findIntegerTileFunction(ElementOp op, DType dtype) {
  return MAX_CHOOSE_TARGET(kIntegerTable).find(op, dtype);
}

}  // namespace max
#endif
