// SPDX-License-Identifier: Apache-2.0
// Walks over rows of floats, and folds of whole rows.
// Included after dispatch.h, once per target.

#include <cmath>

#include "base/interrupt_point.h"
#include "ops/cpu/dispatch.h"

#if defined(MAX_OPS_CPU_FOLD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MAX_OPS_CPU_FOLD_INL_H
#undef MAX_OPS_CPU_FOLD_INL_H
#else
#define MAX_OPS_CPU_FOLD_INL_H
#endif

#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls body(index, left): left = 0 for a full vector, else how many lanes remain.
template <class Body>
HWY_INLINE void forEachLane(int64_t count, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  int64_t i = 0;
  for (int64_t rest = count; rest > kStepsPerLook; rest -= kStepsPerLook) {
    for (const int64_t end = i + kStepsPerLook; i < end; i += lanes) body(i, size_t{0});
    passWork(kStepsPerLook);
  }
  for (; i + lanes <= count; i += lanes) body(i, size_t{0});
  if (i < count) body(i, static_cast<size_t>(count - i));
}

// Folds a row in four accumulators: join(accumulator, map(element)). Lanes past the end count as `start`.
template <class Map, class Join>
HWY_INLINE hn::Vec<hn::ScalableTag<float>> foldRow(const float* x, int64_t size, float start, const Map& map,
                                                   const Join& join) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V first = hn::Set(d, start);
  V a = first, b = first, c = first, e = first;
  int64_t i = 0;
  for (int64_t end = size < kStepsPerLook ? size : kStepsPerLook;;) {
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      a = join(a, map(hn::LoadU(d, x + i)));
      b = join(b, map(hn::LoadU(d, x + i + lanes)));
      c = join(c, map(hn::LoadU(d, x + i + 2 * lanes)));
      e = join(e, map(hn::LoadU(d, x + i + 3 * lanes)));
    }
    if (end == size) break;
    passWork(kStepsPerLook);
    end = size - end < kStepsPerLook ? size : end + kStepsPerLook;
  }
  for (; i + lanes <= size; i += lanes) a = join(a, map(hn::LoadU(d, x + i)));
  if (i < size) {
    const auto left = static_cast<size_t>(size - i);
    const V last = map(loadPartial(d, x + i, left));
    b = join(b, hn::IfThenElse(hn::FirstN(d, left), last, first));
  }
  return join(join(a, b), join(c, e));
}

// NaN elements may be lost.
HWY_INLINE float foldMax(const float* x, int64_t size) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V best = foldRow(
      x, size, -HUGE_VALF, [](V v) HWY_ATTR { return v; }, [](V a, V b) HWY_ATTR { return hn::Max(a, b); });
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

template <class Map>
HWY_INLINE float foldSum(const float* x, int64_t size, const Map& map) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V sum = foldRow(x, size, 0.f, map, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
