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

void rotate(const RotaryRows& all) {
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
    x += rows.size;
    y += rows.size;
    cos += rows.cosStep;
    sin += rows.sinStep;
  }
}

}  // namespace

extern const RotaryTable kRotaryTable;
const RotaryTable kRotaryTable = {rotate};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const RotaryTable& rotaryTable() { return MAX_CHOOSE_TARGET(kRotaryTable); }
}  // namespace max
#endif
