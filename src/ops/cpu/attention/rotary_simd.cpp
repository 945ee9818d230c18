// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/attention/rotary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/attention/rotary_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/reduction/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void rotateHalves(const RotaryRows& all) {
  const hn::ScalableTag<float> d;
  const RotaryRows rows = all;
  const int64_t half = rows.size / 2;
  const float *x = rows.x, *cos = rows.cos, *sin = rows.sin;
  float* y = rows.y;
  for (int64_t row = 0; row < rows.count; ++row) {
    forEachLane(half, [&](int64_t i, size_t left) HWY_ATTR {
      const auto a = loadLanes(d, x + i, left), b = loadLanes(d, x + half + i, left);
      const auto first = hn::NegMulAdd(b, loadLanes(d, sin + i, left), hn::Mul(a, loadLanes(d, cos + i, left)));
      const auto second = hn::MulAdd(a, loadLanes(d, sin + rows.sinSecond + i, left),
                                     hn::Mul(b, loadLanes(d, cos + rows.cosSecond + i, left)));
      storeLanes(first, d, y + i, left);
      storeLanes(second, d, y + half + i, left);
    });
    x += rows.step;
    y += rows.step;
    cos += rows.cosStep;
    sin += rows.sinStep;
  }
}

// A row of pairs of neighbours; a step of 2 goes with angles for each element, 1 with those of pairs.
struct NeighboursRow {
  const float *x, *cos, *sin;
  float* y;
  int64_t cosStep, sinStep;
};

template <class D>
HWY_INLINE void rotateVector(D d, const NeighboursRow& row, int64_t i) {
  using V = hn::Vec<D>;
  V a, b, cosA, cosB, sinA, sinB;
  const auto angles = [&](const float* from, int64_t step, V& first, V& second) HWY_ATTR {
    if (step == 2) return hn::LoadInterleaved2(d, from + 2 * i, first, second);
    first = second = hn::LoadU(d, from + i);
  };
  hn::LoadInterleaved2(d, row.x + 2 * i, a, b);
  angles(row.cos, row.cosStep, cosA, cosB);
  angles(row.sin, row.sinStep, sinA, sinB);
  hn::StoreInterleaved2(hn::NegMulAdd(b, sinA, hn::Mul(a, cosA)), hn::MulAdd(a, sinB, hn::Mul(b, cosB)), d,
                        row.y + 2 * i);
}

// The last pairs of a row, in smaller and smaller vectors.
template <class D>
HWY_INLINE void rotateLast(D d, const NeighboursRow& row, int64_t i, int64_t end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (i + lanes <= end) {
    rotateVector(d, row, i);
    i += lanes;
  }
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (i < end) rotateLast(hn::Half<D>(), row, i, end);
  }
}

void rotateNeighbours(const RotaryRows& rows) {
  const hn::ScalableTag<float> d;
  NeighboursRow row{rows.x, rows.cos, rows.sin, rows.y, 1 + rows.cosSecond, 1 + rows.sinSecond};
  for (int64_t k = 0; k < rows.count; ++k) {
    forEachLane(rows.size / 2, [&](int64_t i, size_t left) HWY_ATTR {
      if (left == 0) return rotateVector(d, row, i);
      rotateLast(hn::Half<decltype(d)>(), row, i, i + static_cast<int64_t>(left));
    });
    row.x += rows.step;
    row.y += rows.step;
    row.cos += rows.cosStep;
    row.sin += rows.sinStep;
  }
}

}  // namespace

extern const RotaryTable kRotaryTable;
const RotaryTable kRotaryTable = {rotateHalves, rotateNeighbours};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const RotaryTable& rotaryTable() { return MAX_CHOOSE_TARGET(kRotaryTable); }
}  // namespace max
#endif
