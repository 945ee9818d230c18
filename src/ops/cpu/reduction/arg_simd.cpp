// SPDX-License-Identifier: Apache-2.0
// Searches for the greatest or least element, vectorised for each CPU target.
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

// What turns the order round if the least is wanted: the sign, or all bits, since the least integer has no negative.
template <class D>
HWY_INLINE hn::Vec<D> flipOf(D d, bool least) {
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  constexpr I kAll = hwy::IsFloat<hn::TFromD<D>>() ? std::numeric_limits<I>::min() : I{-1};
  return hn::BitCast(d, hn::Set(di, least ? kAll : I{0}));
}

// The greatest element, in the order that `flip` makes.
template <class T, class D = hn::ScalableTag<T>, class V = hn::Vec<D>>
HWY_INLINE V greatestOf(const T* x, int64_t size, V flip) {
  constexpr int kVectors = 4;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V lowest = hn::Set(d, kLowest<T>);
  V best[kVectors] = {lowest, lowest, lowest, lowest};
  WorkCounter work;
  int64_t i = 0;
  for (; i + kVectors * lanes <= size; i += kVectors * lanes, work.pass(lanes))
    MAX_UNROLL for (int v = 0; v < kVectors; ++v) best[v] =
        hn::Max(best[v], hn::Xor(hn::LoadU(d, x + i + v * lanes), flip));
#pragma GCC unroll 1
  for (; i < size; i += lanes) {
    const auto left = static_cast<size_t>(HWY_MIN(size - i, lanes));
    const V value = hn::Xor(loadPartial(d, x + i, left), flip);
    best[0] = hn::Max(best[0], hn::IfThenElse(hn::FirstN(d, left), value, lowest));
  }
  const V all = hn::Max(hn::Max(best[0], best[1]), hn::Max(best[2], best[3]));
  return hn::MaxOfLanes(d, all);
}

template <class T>
int64_t argRow(const void* data, int64_t size, bool least, bool lastIndex) {
  const hn::ScalableTag<T> d;
  const T* x = static_cast<const T*>(data);
  const auto flip = flipOf(d, least), value = hn::Xor(greatestOf(x, size, flip), flip);
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

// `left` lanes, 0 = all.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> loadSome(D d, const T* from, size_t left) {
  return left == 0 ? hn::LoadU(d, from) : loadPartial(d, from, left);
}

template <class T>
void argColumns(const void* data, int64_t size, int64_t stride, int64_t width, bool least, bool lastIndex,
                int64_t* indices) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  using I = hn::TFromD<decltype(di)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto flip = flipOf(d, least);
  // The last of equal ones is the first from the other end.
  const int64_t first = lastIndex ? size - 1 : 0, step = lastIndex ? -1 : 1;
  WorkCounter work;
#pragma GCC unroll 1
  for (int64_t i = 0; i < width; i += lanes) {
    const auto left = static_cast<size_t>(width - i < lanes ? width - i : 0);
    const T* x = static_cast<const T*>(data) + first * stride + i;
    auto best = hn::Xor(loadSome(d, x, left), flip);
    auto at = hn::Set(di, static_cast<I>(first));
    auto place = at;
#pragma GCC unroll 1
    for (int64_t k = 1; k < size; ++k, work.pass(2)) {
      x += step * stride;
      place = hn::Add(place, hn::Set(di, static_cast<I>(step)));
      const auto value = hn::Xor(loadSome(d, x, left), flip);
      const auto better = hn::Lt(best, value);
      best = hn::IfThenElse(better, value, best);
      at = hn::IfThenElse(hn::RebindMask(di, better), place, at);
    }
    HWY_ALIGN I found[hn::MaxLanes(di)];
    hn::Store(at, di, found);
    for (int64_t k = 0; k < HWY_MIN(width - i, lanes); ++k) indices[i + k] = found[k];
  }
}

template <class T>
constexpr ArgFunctions kFunctions = {argRow<T>, argColumns<T>};

ArgFunctions find(DType dtype) {
  if (dtype == DType::Float32) return kFunctions<float>;
#if HWY_TARGET == HWY_AVX3  // others have few lanes of 64 bits
  if (dtype == DType::Float64) return kFunctions<double>;
  if (dtype == DType::Int32) return kFunctions<int32_t>;
  if (dtype == DType::Int64) return kFunctions<int64_t>;
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
