// SPDX-License-Identifier: Apache-2.0
// Folds of columns of integers and float64, in vectors of AVX-512.
#include "base/interrupt_point.h"
#include "ops/cpu/reduction/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/reduction/reduce_wide.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/elementwise/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Vectors of the other targets have few lanes of 64 bits; their folds are those of plain loops.
#if HWY_TARGET == HWY_AVX3

constexpr int64_t kRows = 32;  // of a block of columns: so many pages at a time are read in turns
constexpr int kVectors = 4;    // side by side

template <Fold kFold, class D, class V = hn::Vec<D>>
HWY_INLINE V joined(D d, V a, V x) {
  constexpr bool kIsFloat = hwy::IsFloat<hn::TFromD<D>>();
  if constexpr (kFold == Fold::Product) return hn::Mul(a, x);
  if constexpr (kFold == Fold::Max && kIsFloat) return maximum(d, a, x);
  if constexpr (kFold == Fold::Max) return hn::Max(a, x);
  if constexpr (kFold == Fold::Min && kIsFloat) return minimum(d, a, x);
  if constexpr (kFold == Fold::Min) return hn::Min(a, x);
  return hn::Add(a, x);
}

// The first `count` lanes, of elements that may be narrower.
template <class T, class D>
HWY_INLINE hn::Vec<D> loadFirst(D d, const T* from, size_t count) {
  const hn::Rebind<T, D> narrow;
  const auto x = hn::MaskedLoad(hn::FirstN(narrow, count), narrow, from);
  if constexpr (sizeof(T) < sizeof(hn::TFromD<D>))
    return hn::PromoteTo(d, x);
  else
    return x;
}

// Vectors stay in registers while they go down the rows; lanes past the width are not stored.
template <class T, class A, Fold kFold>
HWY_INLINE void columnBlock(const T* x, int64_t rows, int64_t stride, int64_t width, A* accumulators) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[kVectors];
  size_t counts[kVectors];
  MAX_UNROLL for (int v = 0; v < kVectors; ++v) {
    counts[v] = static_cast<size_t>(HWY_MAX(int64_t{0}, HWY_MIN(width - v * lanes, lanes)));
    sums[v] = loadFirst(d, accumulators + v * lanes, counts[v]);
  }
  for (int64_t r = 0; r < rows; ++r, x += stride)
    MAX_UNROLL for (int v = 0; v < kVectors; ++v) sums[v] =
        joined<kFold>(d, sums[v], loadFirst(d, x + v * lanes, counts[v]));
  MAX_UNROLL for (int v = 0; v < kVectors; ++v)
      hn::BlendedStore(sums[v], hn::FirstN(d, counts[v]), d, accumulators + v * lanes);
}

template <class T, class A, Fold kFold>
void columns(const void* data, int64_t rows, int64_t stride, int64_t width, void* accumulatorData, const void*) {
  constexpr int64_t kStep = kVectors * static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<A>()));
  const T* x = static_cast<const T*>(data);
  A* accumulators = static_cast<A*>(accumulatorData);
  for (int64_t r = 0; r < rows; r += kRows) {
    for (int64_t i = 0; i < width; i += kStep)
      columnBlock<T, A, kFold>(x + r * stride + i, HWY_MIN(rows - r, kRows), stride, width - i, accumulators + i);
    if (rows > kRows) passWork(kRows * width);
  }
}

template <class T>
FoldColumns findInElements(Fold fold) {
  switch (fold) {
    case Fold::Product:
      return columns<T, T, Fold::Product>;
    case Fold::Max:
      return columns<T, T, Fold::Max>;
    case Fold::Min:
      return columns<T, T, Fold::Min>;
    default:
      return nullptr;
  }
}

FoldColumns find(Fold fold, DType dtype) {
  if (dtype == DType::Int32)
    return fold == Fold::Sum ? columns<int32_t, int64_t, Fold::Sum> : findInElements<int32_t>(fold);
  if (dtype == DType::Int64)
    return fold == Fold::Sum ? columns<int64_t, int64_t, Fold::Sum> : findInElements<int64_t>(fold);
  if (dtype != DType::Float64) return nullptr;
  if (fold == Fold::Sum) return columns<double, double, Fold::Sum>;
  return findInElements<double>(fold);
}

#else
FoldColumns find(Fold, DType) { return nullptr; }
#endif

}  // namespace

extern const WideFoldTable kWideFoldTable;
const WideFoldTable kWideFoldTable = {find};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
FoldColumns findWideColumns(Fold fold, DType dtype) { return MAX_CHOOSE_TARGET(kWideFoldTable).find(fold, dtype); }
}  // namespace max
#endif
