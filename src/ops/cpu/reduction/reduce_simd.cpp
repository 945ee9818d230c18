// SPDX-License-Identifier: Apache-2.0
// Reductions of float32, vectorised for each CPU target.
#include <cmath>

#include "ops/cpu/reduction/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/reduction/reduce_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/elementwise/math-inl.h"
#include "ops/cpu/reduction/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// Elements per set of accumulators: bounds the rounding error of long sums.
constexpr int64_t kPart = 8192;
constexpr int64_t kRows = 32;  // of a block of columns: so many pages at a time are read in turns

// A fold: start, map(element, shift), join.
struct Sum {
  static constexpr float kStart = 0;
  static constexpr bool kShifted = false;
  static HWY_INLINE V map(V x, V) { return x; }
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE float lanes(V v) { return hn::GetLane(hn::SumOfLanes(F(), v)); }
};
struct SumOfMagnitudes : Sum {
  static HWY_INLINE V map(V x, V) { return hn::Abs(x); }
};
struct SumOfSquares : Sum {
  static HWY_INLINE V map(V x, V) { return hn::Mul(x, x); }
};
struct SumOfExponentials : Sum {
  static constexpr bool kShifted = true;
  static HWY_INLINE V map(V x, V shift) { return exp(F(), hn::Sub(x, shift)); }
};
struct Product : Sum {
  static constexpr float kStart = 1;
  static HWY_INLINE V join(V a, V b) { return hn::Mul(a, b); }
  static HWY_INLINE float lanes(V v) {
    HWY_ALIGN float values[hn::MaxLanes(F())];
    hn::Store(v, F(), values);
    float product = 1;
    for (float value : values) product *= value;
    return product;
  }
};
struct Max : Sum {
  static constexpr float kStart = -HUGE_VALF;
  static HWY_INLINE V join(V a, V b) { return maximum(F(), a, b); }
  static HWY_INLINE float lanes(V v) {
    return hn::AllFalse(F(), hn::IsNaN(v)) ? hn::GetLane(hn::MaxOfLanes(F(), v)) : NAN;
  }
};
struct Min : Sum {
  static constexpr float kStart = HUGE_VALF;
  static HWY_INLINE V join(V a, V b) { return minimum(F(), a, b); }
  static HWY_INLINE float lanes(V v) {
    return hn::AllFalse(F(), hn::IsNaN(v)) ? hn::GetLane(hn::MinOfLanes(F(), v)) : NAN;
  }
};

template <class Op>
HWY_INLINE float joinScalars(float a, float b) {
  return hn::GetLane(Op::join(hn::Set(F(), a), hn::Set(F(), b)));
}

template <class Op>
HWY_INLINE V shiftOf(const float* shift, int64_t row) {
  return hn::Set(F(), Op::kShifted ? shift[row] : 0.f);
}

// Of rows up to this length, adding up the lanes of a sum is most of the work.
constexpr int64_t kShortRow = 16 * static_cast<int64_t>(hn::MaxLanes(F()));

// One row in one vector.
template <class Op>
HWY_INLINE V shortRow(const float* x, int64_t count, V shift) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V start = hn::Set(d, Op::kStart);
  V result = start;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) result = Op::join(result, Op::map(hn::LoadU(d, x + i), shift));
  if (i == count) return result;
  const auto left = static_cast<size_t>(count - i);
  return Op::join(result, hn::IfThenElse(hn::FirstN(d, left), Op::map(loadPartial(d, x + i, left), shift), start));
}

#if HWY_TARGET != HWY_SCALAR
// The joined lanes of four vectors: the first four lanes of the result.
template <class Op>
HWY_INLINE V joinFour(V a, V b, V c, V e) {
  const F d;
  const hn::RepartitionToWide<F> dw;
  const V ab = Op::join(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V ce = Op::join(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto first = hn::BitCast(dw, ab), second = hn::BitCast(dw, ce);
  V all = Op::join(hn::BitCast(d, hn::InterleaveLower(dw, first, second)),
                   hn::BitCast(d, hn::InterleaveUpper(dw, first, second)));
#if HWY_TARGET == HWY_AVX3
  all = Op::join(all, hn::SwapAdjacentBlocks(all));
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  all = Op::join(all, hn::ConcatLowerUpper(d, all, all));
#endif
  return all;
}

// Four rows; `count` is at most kShortRow.
template <class Op>
HWY_INLINE void fourRows(const float* x, int64_t stride, int64_t count, float* accumulators) {
  const F d;
  V rows[4];
#pragma GCC unroll 1
  for (int64_t r = 0; r < 4; ++r) rows[r] = shortRow<Op>(x + r * stride, count, hn::Zero(d));
  const V joined = joinFour<Op>(rows[0], rows[1], rows[2], rows[3]);
  storePartial(Op::join(loadPartial(d, accumulators, 4), joined), d, accumulators, 4);
}
#endif

template <class Op>
void longRow(const float* x, int64_t count, float* accumulator, V shift) {
  for (int64_t i = 0; i < count; i += kPart) {
    const V folded = foldRow(
        x + i, count - i < kPart ? count - i : kPart, Op::kStart, [shift](V v) HWY_ATTR { return Op::map(v, shift); },
        [](V a, V b) HWY_ATTR { return Op::join(a, b); });
    *accumulator = joinScalars<Op>(*accumulator, Op::lanes(folded));
    if (count > kPart) passWork(kPart);
  }
}

template <class Op>
void rows(const void* data, int64_t rowCount, int64_t stride, int64_t count, void* accumulatorData,
          const void* shiftData) {
  const float *x = static_cast<const float*>(data), *shift = static_cast<const float*>(shiftData);
  float* accumulators = static_cast<float*>(accumulatorData);
  int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (!Op::kShifted)
    for (; count <= kShortRow && r + 4 <= rowCount; r += 4)
      fourRows<Op>(x + r * stride, stride, count, accumulators + r);
#endif
  for (; r < rowCount; ++r) longRow<Op>(x + r * stride, count, accumulators + r, shiftOf<Op>(shift, r));
}

template <class Op>
HWY_INLINE V loadShift(const float* shift, int64_t i, size_t left) {
  if constexpr (Op::kShifted) return loadLanes(F(), shift + i, left);
  return hn::Zero(F());
}

#if MAX_MASKED_MEMORY
// More than two vectors and less than four, side by side as below. Lanes past the end are not read.
template <class Op>
HWY_NOINLINE void lastColumns(const float* x, int64_t rows, int64_t stride, int64_t width, float* accumulators) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V start = hn::Set(d, Op::kStart), none = hn::Zero(d);
  const auto c = hn::FirstN(d, static_cast<size_t>(HWY_MIN(width - 2 * lanes, lanes)));
  const auto e = hn::FirstN(d, static_cast<size_t>(HWY_MAX(width - 3 * lanes, int64_t{0})));
  V sums[4] = {start, start, start, start};
  for (int64_t r = 0; r < rows; ++r, x += stride) {
    sums[0] = Op::join(sums[0], Op::map(hn::LoadU(d, x), none));
    sums[1] = Op::join(sums[1], Op::map(hn::LoadU(d, x + lanes), none));
    sums[2] = Op::join(sums[2], Op::map(hn::MaskedLoad(c, d, x + 2 * lanes), none));
    sums[3] = Op::join(sums[3], Op::map(hn::MaskedLoad(e, d, x + 3 * lanes), none));
  }
  float* to = accumulators;
  hn::StoreU(Op::join(hn::LoadU(d, to), sums[0]), d, to);
  hn::StoreU(Op::join(hn::LoadU(d, to + lanes), sums[1]), d, to + lanes);
  hn::BlendedStore(Op::join(hn::MaskedLoad(c, d, to + 2 * lanes), sums[2]), c, d, to + 2 * lanes);
  hn::BlendedStore(Op::join(hn::MaskedLoad(e, d, to + 3 * lanes), sums[3]), e, d, to + 3 * lanes);
}
#endif

// Four vectors side by side stay in registers while they go down the rows.
template <class Op>
void columnBlock(const float* x, int64_t rows, int64_t stride, int64_t width, float* accumulators, const float* shift) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V start = hn::Set(d, Op::kStart);
  int64_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    V a = start, b = start, c = start, e = start;
    const V sa = loadShift<Op>(shift, i, 0), sb = loadShift<Op>(shift, i + lanes, 0),
            sc = loadShift<Op>(shift, i + 2 * lanes, 0), se = loadShift<Op>(shift, i + 3 * lanes, 0);
    const float* from = x + i;
    for (int64_t r = 0; r < rows; ++r, from += stride) {
      a = Op::join(a, Op::map(hn::LoadU(d, from), sa));
      b = Op::join(b, Op::map(hn::LoadU(d, from + lanes), sb));
      c = Op::join(c, Op::map(hn::LoadU(d, from + 2 * lanes), sc));
      e = Op::join(e, Op::map(hn::LoadU(d, from + 3 * lanes), se));
    }
    float* to = accumulators + i;
    hn::StoreU(Op::join(hn::LoadU(d, to), a), d, to);
    hn::StoreU(Op::join(hn::LoadU(d, to + lanes), b), d, to + lanes);
    hn::StoreU(Op::join(hn::LoadU(d, to + 2 * lanes), c), d, to + 2 * lanes);
    hn::StoreU(Op::join(hn::LoadU(d, to + 3 * lanes), e), d, to + 3 * lanes);
  }
#if MAX_MASKED_MEMORY
  if constexpr (!Op::kShifted)
    if (width - i > 2 * lanes) return lastColumns<Op>(x + i, rows, stride, width - i, accumulators + i);
#endif
  forEachLane(width - i, [&](int64_t k, size_t left) HWY_ATTR {
    V a = start;
    const V s = loadShift<Op>(shift, i + k, left);
    const float* from = x + i + k;
    for (int64_t r = 0; r < rows; ++r, from += stride) a = Op::join(a, Op::map(loadLanes(d, from, left), s));
    float* to = accumulators + i + k;
    storeLanes(Op::join(loadLanes(d, to, left), a), d, to, left);
  });
}

template <class Op>
void columns(const void* data, int64_t rows, int64_t stride, int64_t width, void* accumulators, const void* shift) {
  const float* x = static_cast<const float*>(data);
  for (int64_t r = 0; r < rows; r += kRows) {
    columnBlock<Op>(x + r * stride, rows - r < kRows ? rows - r : kRows, stride, width,
                    static_cast<float*>(accumulators), static_cast<const float*>(shift));
    if (rows > kRows) passWork(kRows * width);
  }
}

template <class Op>
void join(void* to, const void* from, int64_t count) {
  float* a = static_cast<float*>(to);
  const float* b = static_cast<const float*>(from);
  for (int64_t i = 0; i < count; ++i) a[i] = joinScalars<Op>(a[i], b[i]);
}

template <class Op>
void start(void* accumulators, int64_t count) {
  float* a = static_cast<float*>(accumulators);
  for (int64_t i = 0; i < count; ++i) a[i] = Op::kStart;
}

template <class Op>
constexpr FoldFunctions functionsOf() {
  return {rows<Op>, columns<Op>, join<Op>, start<Op>};
}

}  // namespace

extern const ReduceTable kReduceTable;
const ReduceTable kReduceTable = {{functionsOf<Sum>(), functionsOf<Product>(), functionsOf<Max>(), functionsOf<Min>(),
                                   functionsOf<SumOfMagnitudes>(), functionsOf<SumOfSquares>(),
                                   functionsOf<SumOfExponentials>()}};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const ReduceTable& reduceTable() { return MAX_CHOOSE_TARGET(kReduceTable); }
}  // namespace max
#endif
