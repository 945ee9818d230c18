// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/image/sample_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/image/sample_rows.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/reduction/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void rows(const float* x, const int64_t* offsets, const float* weights, int64_t count, int64_t channels, float* out) {
  const hn::ScalableTag<float> d;
  forEachLane(channels, [=](int64_t c, size_t left) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (int64_t k = 0; k < count; ++k)
      sum = hn::MulAdd(hn::Set(d, weights[k]), loadLanes(d, x + offsets[k] + c, left), sum);
    storeLanes(sum, d, out + c, left);
  });
}

// Where a coordinate of [-1, 1] lies among pixels, as ops/cpu/image/grid_axis.h finds it.
template <class D>
HWY_INLINE hn::Vec<D> placeOf(D d, hn::Vec<D> coordinate, hn::Vec<D> size, bool alignsCorners) {
  const auto one = hn::Set(d, 1.f), half = hn::Set(d, 0.5f), moved = hn::Add(coordinate, one);
  return alignsCorners ? hn::Mul(hn::Mul(moved, half), hn::Sub(size, one))
                       : hn::Mul(hn::Sub(hn::Mul(moved, size), one), half);
}

// The pixels before and after it.
template <class D>
struct Neighbours {
  hn::Vec<D> base, part;
  hn::Mask<D> hasFirst, hasSecond;  // inside the image

  HWY_INLINE Neighbours(D d, hn::Vec<D> coordinate, int64_t pixels, bool alignsCorners) {
    const auto one = hn::Set(d, 1.f), size = hn::Set(d, static_cast<float>(pixels));
    auto x = placeOf(d, coordinate, size, alignsCorners);
    const auto margin = hn::Set(d, 4.f);
    x = hn::IfThenElse(hn::And(hn::Gt(x, hn::Neg(margin)), hn::Lt(x, hn::Add(size, margin))), x, hn::Neg(margin));
    base = hn::Floor(x);
    part = hn::Sub(x, base);
    const auto next = hn::Add(base, one), zero = hn::Zero(d);
    hasFirst = hn::And(hn::Ge(base, zero), hn::Lt(base, size));
    hasSecond = hn::And(hn::Ge(next, zero), hn::Lt(next, size));
  }
};

template <class D>
HWY_NOINLINE void samplePlanes(D d, const SampledPlanes& planes, const float* grid, int64_t first, size_t left) {
  const hn::RebindToSigned<D> di;
  hn::Vec<D> x, y;
  hn::LoadInterleaved2(d, grid, x, y);
  const Neighbours<D> across(d, x, planes.width, planes.alignsCorners), down(d, y, planes.height, planes.alignsCorners);
  const auto width = hn::Set(di, static_cast<int32_t>(planes.width)), one = hn::Set(di, 1);
  const auto at = hn::Add(hn::Mul(hn::ConvertTo(di, down.base), width), hn::ConvertTo(di, across.base));
  const auto below = hn::Add(at, width);
  const auto ones = hn::Set(d, 1.f);
  const auto top = hn::Sub(ones, down.part), before = hn::Sub(ones, across.part);
  const float* plane = planes.x;
  float* out = planes.out + first;
  for (int64_t c = 0; c < planes.channels; ++c, plane += planes.height * planes.width, out += planes.outStride) {
    const auto tap = [&](auto row, auto column, auto index, auto weight, auto sum) HWY_ATTR {
      const auto inside = hn::And(row, column);
      const auto place = hn::IfThenElseZero(hn::RebindMask(di, inside), index);
      return hn::MulAdd(weight, hn::IfThenElseZero(inside, hn::GatherIndex(d, plane, place)), sum);
    };
    auto sum = tap(down.hasFirst, across.hasFirst, at, hn::Mul(top, before), hn::Zero(d));
    sum = tap(down.hasFirst, across.hasSecond, hn::Add(at, one), hn::Mul(top, across.part), sum);
    sum = tap(down.hasSecond, across.hasFirst, below, hn::Mul(down.part, before), sum);
    sum = tap(down.hasSecond, across.hasSecond, hn::Add(below, one), hn::Mul(down.part, across.part), sum);
    storeLanes(sum, d, out, left);
  }
}

// The nearest pixel of all channels.
template <class D>
HWY_NOINLINE void nearestOfPlanes(D d, const SampledPlanes& planes, const float* grid, int64_t first, size_t left) {
  const hn::RebindToSigned<D> di;
  hn::Vec<D> x, y;
  hn::LoadInterleaved2(d, grid, x, y);
  const auto width = hn::Set(d, static_cast<float>(planes.width)),
             height = hn::Set(d, static_cast<float>(planes.height));
  const auto column = hn::Round(placeOf(d, x, width, planes.alignsCorners));
  const auto row = hn::Round(placeOf(d, y, height, planes.alignsCorners));
  const auto isWithin = [&](auto place, auto size)
                            HWY_ATTR { return hn::And(hn::Ge(place, hn::Zero(d)), hn::Lt(place, size)); };
  const auto inside = hn::And(isWithin(column, width), isWithin(row, height));
  const auto across = hn::ConvertTo(di, hn::IfThenElseZero(inside, column));
  const auto down = hn::ConvertTo(di, hn::IfThenElseZero(inside, row));
  const auto at = hn::Add(hn::Mul(down, hn::Set(di, static_cast<int32_t>(planes.width))), across);
  const float* plane = planes.x;
  float* out = planes.out + first;
  for (int64_t c = 0; c < planes.channels; ++c, plane += planes.height * planes.width, out += planes.outStride)
    storeLanes(hn::IfThenElseZero(inside, hn::GatherIndex(d, plane, at)), d, out, left);
}

template <class D>
HWY_INLINE void sampleLanes(D d, const SampledPlanes& planes, const float* grid, int64_t first, size_t left) {
  planes.isNearest ? nearestOfPlanes(d, planes, grid, first, left) : samplePlanes(d, planes, grid, first, left);
}

void planes(const SampledPlanes& planes, const float* grid, int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) sampleLanes(d, planes, grid + 2 * i, i, 0);
  if (i == count) return;
  HWY_ALIGN float rest[2 * hn::MaxLanes(d)] = {};
  std::copy_n(grid + 2 * i, 2 * (count - i), rest);
  sampleLanes(d, planes, rest, i, static_cast<size_t>(count - i));
}

}  // namespace

extern const SampleTable kSampleTable;
const SampleTable kSampleTable = {rows, planes};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const SampleTable& sampleTable() { return MAX_CHOOSE_TARGET(kSampleTable); }
}  // namespace max
#endif
