// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/image/sample_rows.h"

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

}  // namespace

extern const SampleTable kSampleTable;
const SampleTable kSampleTable = {rows};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const SampleTable& sampleTable() { return MAX_CHOOSE_TARGET(kSampleTable); }
}  // namespace max
#endif
