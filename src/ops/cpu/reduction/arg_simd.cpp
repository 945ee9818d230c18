// SPDX-License-Identifier: Apache-2.0
// Searches for the greatest or least element, vectorised for each CPU target.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt_point.h"
#include "ops/cpu/reduction/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/reduction/arg_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class T>
constexpr T kLowest = std::is_floating_point_v<T> ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::min();

template <class D>
HWY_INLINE hn::Vec<D> setTurn(D d, int64_t turn) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(turn)));
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> greatestLane(D d, hn::Vec<D> all) {
  if constexpr (sizeof(T) > 1) {
    return hn::MaxOfLanes(d, all);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(all, d, lanes);
    return hn::Set(d, *std::max_element(lanes, lanes + hn::Lanes(d)));
  }
}

// The greatest element, turned.
template <class T, class D = hn::ScalableTag<T>, class V = hn::Vec<D>>
HWY_INLINE V greatestOf(const T* x, int64_t size, V turn) {
  constexpr int kVectors = 4;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V lowest = hn::Set(d, kLowest<T>);
  V best[kVectors] = {lowest, lowest, lowest, lowest};
  WorkCounter work;
  int64_t i = 0;
  for (; i + kVectors * lanes <= size; i += kVectors * lanes, work.pass(lanes))
    MAX_UNROLL for (int v = 0; v < kVectors; ++v) best[v] =
        hn::Max(best[v], hn::Xor(hn::LoadU(d, x + i + v * lanes), turn));
#pragma GCC unroll 1
  for (; i < size; i += lanes) {
    const auto left = static_cast<size_t>(HWY_MIN(size - i, lanes));
    const V value = hn::Xor(loadPartial(d, x + i, left), turn);
    best[0] = hn::Max(best[0], hn::IfThenElse(hn::FirstN(d, left), value, lowest));
  }
  const V all = hn::Max(hn::Max(best[0], best[1]), hn::Max(best[2], best[3]));
  return greatestLane(d, all);
}

template <class T>
int64_t argRow(const void* data, int64_t size, int64_t turn, bool lastIndex) {
  const hn::ScalableTag<T> d;
  const T* x = static_cast<const T*>(data);
  const auto turns = setTurn(d, turn), value = hn::Xor(greatestOf(x, size, turns), turns);
  const T wanted = hn::GetLane(value);
  WorkCounter work;
  if (lastIndex) {
#pragma GCC unroll 1
    for (int64_t i = size - 1; i >= 0; --i, work.pass())
      if (x[i] == wanted) return i;
    return 0;
  }
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
#pragma GCC unroll 1
  for (; i + lanes <= size; i += lanes, work.pass(lanes)) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), value));
    if (found >= 0) return i + found;
  }
#pragma GCC unroll 1
  for (; i < size; ++i)
    if (x[i] == wanted) return i;
  return 0;
}

// Of so many columns that are left; 0 = a whole vector.
template <class D>
HWY_INLINE size_t partOf(D d, int64_t columns) {
  return columns < static_cast<int64_t>(hn::Lanes(d)) ? static_cast<size_t>(columns) : 0;
}

// The greatest elements of columns up to a row, and where they are. A column is searched in parts, so that integers as
// wide as its elements count parts and the rows of one.
template <class T>
struct Columns {
  using I = hwy::MakeSigned<T>;
  static constexpr int64_t kRows = 8;  // searched together
  static constexpr int64_t kPart = std::min<int64_t>(std::numeric_limits<I>::max(), INT32_MAX) / kRows * kRows;
  static constexpr bool kHasParts = sizeof(T) < 4;

  HWY_ALIGN T best[kArgColumns];
  HWY_ALIGN I row[kArgColumns];
  HWY_ALIGN I part[kHasParts ? kArgColumns : 1];
};

// A few rows at x, the first of which is number `first`: only a few, since elements below each other often share the
// few places of a cache that they may have.
template <class T>
HWY_INLINE void searchRows(const T* x, int64_t step, int64_t first, int64_t rows, int64_t width, int64_t turn,
                           Columns<T>& columns) {
  using Found = Columns<T>;
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  using I = typename Found::I;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto turns = setTurn(d, turn);
  const auto number = hn::Set(di, static_cast<I>(first / Found::kPart));
  const auto begin = hn::Set(di, static_cast<I>(first % Found::kPart)), one = hn::Set(di, I{1});
#pragma GCC unroll 1
  for (int64_t i = 0; i < width; i += lanes) {
    const auto before = hn::Load(d, columns.best + i);
    auto best = before;
    auto row = hn::Load(di, columns.row + i), place = begin;
    const T* from = x + i;
    const size_t left = partOf(d, width - i);
#pragma GCC unroll 1
    for (int64_t k = 0; k < rows; ++k, from += step, place = hn::Add(place, one)) {
      const auto value = hn::Xor(loadLanes(d, from, left), turns);
      const auto isBetter = hn::Lt(best, value);
      best = hn::IfThenElse(isBetter, value, best);
      row = hn::IfThenElse(hn::RebindMask(di, isBetter), place, row);
    }
    hn::Store(best, d, columns.best + i);
    hn::Store(row, di, columns.row + i);
    if (Found::kHasParts) {
      const auto isNew = hn::RebindMask(di, hn::Lt(before, best));
      hn::Store(hn::IfThenElse(isNew, number, hn::Load(di, columns.part + i)), di, columns.part + i);
    }
  }
}

template <class T>
void argColumns(const void* data, int64_t size, int64_t stride, int64_t width, int64_t turn, bool lastIndex,
                int64_t* indices) {
  using Found = Columns<T>;
  const hn::ScalableTag<T> d;
  // The last of equal ones is the first from the other end.
  const int64_t step = lastIndex ? -stride : stride;
  const T* x = static_cast<const T*>(data) + (lastIndex ? (size - 1) * stride : 0);
  Found found;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto zero = hn::Zero(hn::RebindToSigned<decltype(d)>());
    hn::Store(hn::Xor(loadLanes(d, x + i, partOf(d, width - i)), setTurn(d, turn)), d, found.best + i);
    hn::Store(zero, hn::RebindToSigned<decltype(d)>(), found.row + i);
    if (Found::kHasParts) hn::Store(zero, hn::RebindToSigned<decltype(d)>(), found.part + i);
  }
  WorkCounter work;
  for (int64_t k = 0; k < size; k += Found::kRows, work.pass(width / 2))
    searchRows(x + k * step, step, k, HWY_MIN(size - k, Found::kRows), width, turn, found);
  for (int64_t i = 0; i < width; ++i) indices[i] = (Found::kHasParts ? found.part[i] * Found::kPart : 0) + found.row[i];
  for (int64_t i = 0; i < width && lastIndex; ++i) indices[i] = size - 1 - indices[i];
}

// Of elements of type Of, whose bits are those of T. Integers turn all bits for the least, since the least of them has
// no negative; the sign, too, if only one of the types has it.
template <class T, class Of = T>
constexpr ArgFunctions functionsOf() {
  constexpr int64_t kSign = std::numeric_limits<hwy::MakeSigned<T>>::min();
  constexpr int64_t kGreatest = std::is_signed_v<T> == std::is_signed_v<Of> ? 0 : kSign;
  constexpr int64_t kLeast = std::is_floating_point_v<T> ? kSign : ~kGreatest;
  return {argRow<T>,
          argColumns<T>,
          {kGreatest, kLeast},
          Columns<T>::kPart * std::min<int64_t>(Columns<T>::kPart, INT32_MAX / Columns<T>::kPart)};
}

ArgFunctions find(DType dtype) {
  if (dtype == DType::Float32) return functionsOf<float>();
  if (dtype == DType::UInt8) return functionsOf<uint8_t>();
  if (dtype == DType::Int8) return functionsOf<uint8_t, int8_t>();
#if HWY_TARGET == HWY_AVX3  // others have few lanes of 64 bits
  if (dtype == DType::Float64) return functionsOf<double>();
  if (dtype == DType::Int32) return functionsOf<int32_t>();
  if (dtype == DType::Int64) return functionsOf<int64_t>();
  if (dtype == DType::UInt32) return functionsOf<int32_t, uint32_t>();
  if (dtype == DType::UInt64) return functionsOf<int64_t, uint64_t>();
#endif
  return {};
}

}  // namespace

extern const ArgTable kArgTable;
const ArgTable kArgTable = {find};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
ArgFunctions findArgFunctions(DType dtype) { return MAX_CHOOSE_TARGET(kArgTable).find(dtype); }
}  // namespace max
#endif
