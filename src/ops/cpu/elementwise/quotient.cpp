// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders of int32 and int64, several at a time: in double, which has the numbers that occur.
#include "ops/cpu/elementwise/quotient.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/quotient.cpp"
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
        divideOneByOne(tile, op, kDType<T>, i, lanes);
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
  if (i < tile.count) divideOneByOne(tile, op, kDType<T>, i, tile.count - i);
}

template <ElementOp kOp>
TileFunction findFor(DType dtype) {
  if (dtype == DType::Int32) return [](const TileOperands& tile) { divide<int32_t>(tile, kOp); };
  if (dtype == DType::Int64) return [](const TileOperands& tile) { divide<int64_t>(tile, kOp); };
  return nullptr;
}

TileFunction find(ElementOp op, DType dtype) {
  switch (op) {
    case ElementOp::Div:
      return findFor<ElementOp::Div>(dtype);
    case ElementOp::Mod:
      return findFor<ElementOp::Mod>(dtype);
    case ElementOp::Fmod:
      return findFor<ElementOp::Fmod>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace

extern const QuotientTable kQuotientTable;
const QuotientTable kQuotientTable = {find};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

void divideOneByOne(const TileOperands& tile, ElementOp op, DType dtype, int64_t begin, int64_t count) {
  const auto size = static_cast<int64_t>(sizeOf(dtype));
  TileOperands part = tile;
  part.count = count;
  part.dst = static_cast<std::byte*>(tile.dst) + begin * size;
  for (int i = 0; i < 2; ++i) part.src[i] = static_cast<const std::byte*>(tile.src[i]) + begin * tile.step[i] * size;
  findPlainTileFunction(op, dtype)(part);
}

TileFunction findQuotientTileFunction(ElementOp op, DType dtype) {
  return MAX_CHOOSE_TARGET(kQuotientTable).find(op, dtype);
}

}  // namespace max
#endif
