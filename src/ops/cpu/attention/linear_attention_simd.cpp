// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt_point.h"
#include "ops/cpu/attention/linear_attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/attention/linear_attention_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/reduction/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;

// sum += factor * x
HWY_INLINE void addScaled(const float* x, float factor, int64_t count, float* sum) {
  const F d;
  const auto by = hn::Set(d, factor);
  forEachLane(count, [=](int64_t i, size_t left) HWY_ATTR {
    storeLanes(hn::MulAdd(by, loadLanes(d, x + i, left), loadLanes(d, sum + i, left)), d, sum + i, left);
  });
}

HWY_INLINE void fill(float* x, int64_t count, float value) {
  const F d;
  forEachLane(count, [=](int64_t i, size_t left) HWY_ATTR { storeLanes(hn::Set(d, value), d, x + i, left); });
}

HWY_INLINE void scaleRow(float* x, int64_t count, float factor) {
  const F d;
  const auto by = hn::Set(d, factor);
  forEachLane(count, [=](int64_t i, size_t left)
                         HWY_ATTR { storeLanes(hn::Mul(by, loadLanes(d, x + i, left)), d, x + i, left); });
}

void token(const LinearToken& t) {
  const F d;
  fill(t.written, t.width, 0);
  WorkCounter work;
  for (int64_t i = 0; i < t.depth && (t.decay || t.corrects); ++i, work.pass(t.width)) {
    float* row = t.state + i * t.width;
    if (t.decay) scaleRow(row, t.width, t.decay[i]);
    if (t.corrects) addScaled(row, t.key[i], t.width, t.written);
  }
  const auto rate = hn::Set(d, t.rate);
  forEachLane(t.width, [&](int64_t j, size_t left) HWY_ATTR {
    const auto value = loadLanes(d, t.value + j, left);
    const auto rest = hn::Mul(rate, hn::Sub(value, loadLanes(d, t.written + j, left)));
    storeLanes(t.corrects ? rest : value, d, t.written + j, left);
  });
  fill(t.out, t.shared * t.width, 0);
  for (int64_t i = 0; i < t.depth; ++i, work.pass(t.width * (1 + t.shared))) {
    float* row = t.state + i * t.width;
    addScaled(t.written, t.key[i], t.width, row);
    for (int64_t h = 0; h < t.shared; ++h)
      addScaled(row, t.queries[h * t.depth + i] * t.scale, t.width, t.out + h * t.width);
  }
}

void slide(const float* x, const float* weights, int64_t taps, float bias, int64_t count, float* out) {
  const F d;
  WorkCounter work;
  forEachLane(count, [&](int64_t i, size_t left) HWY_ATTR {
    auto sum = hn::Set(d, bias);
    for (int64_t k = 0; k < taps; ++k) sum = hn::MulAdd(hn::Set(d, weights[k]), loadLanes(d, x + i + k, left), sum);
    work.pass(taps);
    storeLanes(sum, d, out + i, left);
  });
}

}  // namespace

extern const LinearAttentionTable kLinearAttentionTable;
const LinearAttentionTable kLinearAttentionTable = {token, slide};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const LinearAttentionTable& linearAttentionTable() { return MAX_CHOOSE_TARGET(kLinearAttentionTable); }
}  // namespace max
#endif
