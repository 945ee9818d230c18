// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/cpu/normalization/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/normalization/softmax_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/math-inl.h"
#include "ops/cpu/reduction/fold-inl.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

void shortRow(const float* x, float* y, size_t size, bool logarithm) {
  const F d;
  const auto inside = hn::FirstN(d, size);
  const V value = loadPartial(d, x, size);
  const V largest = hn::MaxOfLanes(d, hn::IfThenElse(inside, value, hn::Set(d, -HUGE_VALF)));
  const V shifted = hn::Sub(value, largest);
  const V e = hn::IfThenElseZero(inside, softmaxWeight(d, shifted, kPowers));
  const V sum = hn::SumOfLanes(d, e);
  if (logarithm)
    storePartial(hn::Sub(shifted, hn::Set(d, std::log(hn::GetLane(sum)))), d, y, size);
  else
    storePartial(hn::Div(e, sum), d, y, size);
}

// y = function(x)
template <class Function>
HWY_INLINE void finish(const float* x, float* y, int64_t size, bool isStreamed, const Function& function) {
  const F d;
  if (isStreamed)
    forEachLane(size, [=](int64_t i, size_t) HWY_ATTR { hn::Stream(function(hn::LoadU(d, x + i)), d, y + i); });
  else
    forEachLane(size, [=](int64_t i, size_t left)
                          HWY_ATTR { storeLanes(function(loadLanes(d, x + i, left)), d, y + i, left); });
}

void row(const float* x, float* y, int64_t size, bool logarithm, float* weights) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (size <= lanes) return shortRow(x, y, static_cast<size_t>(size), logarithm);
  const float largest = foldMax(x, size);
  const V shift = hn::Set(d, largest);
  V sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  float* to = weights ? weights : y;
  const auto step = [&](int64_t i) HWY_ATTR {
    const V e = softmaxWeight(d, hn::Sub(hn::LoadU(d, x + i), shift), kPowers);
    if (weights) __builtin_prefetch(x + 2 * size + i);
    if (!logarithm) hn::StoreU(e, d, to + i);
    return e;
  };
  int64_t i = 0;
  for (int64_t end = size < kStepsPerLook ? size : kStepsPerLook;;) {
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      sum0 = hn::Add(sum0, step(i));
      sum1 = hn::Add(sum1, step(i + lanes));
    }
    if (end == size) break;
    passWork(kStepsPerLook);
    end = size - end < kStepsPerLook ? size : end + kStepsPerLook;
  }
  for (; i + lanes <= size; i += lanes) sum0 = hn::Add(sum0, step(i));
  if (i < size) {
    const auto left = static_cast<size_t>(size - i);
    const V e = softmaxWeight(d, hn::Sub(loadPartial(d, x + i, left), shift), kPowers);
    if (!logarithm) storePartial(e, d, to + i, left);
    sum1 = hn::Add(sum1, hn::IfThenElseZero(hn::FirstN(d, left), e));
  }
  const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  const V by = hn::Set(d, logarithm ? largest + std::log(sum) : 1 / sum);
  if (logarithm)
    finish(x, y, size, weights, [=](V v) HWY_ATTR { return hn::Sub(v, by); });
  else
    finish(to, y, size, weights, [=](V v) HWY_ATTR { return hn::Mul(v, by); });
}

void columns(const float* x, float* y, int64_t size, int64_t stride, int64_t count, float* scratch, bool logarithm) {
  const F d;
  float* largest = scratch;
  float* sum = scratch + count;
  WorkCounter work;
  // Calls body(offset in a line of columns, lanes) for all vectors of element `k` of the lines.
  const auto forEach = [count](const auto& body) HWY_ATTR { forEachLane(count, body); };
  forEach([&](int64_t i, size_t left) HWY_ATTR {
    V best = loadLanes(d, x + i, left);
    for (int64_t k = 1; k < size; ++k) best = hn::Max(best, loadLanes(d, x + k * stride + i, left));
    work.pass(size);
    storeLanes(best, d, largest + i, left);
    storeLanes(hn::Zero(d), d, sum + i, left);
  });
  for (int64_t k = 0; k < size; ++k, work.pass(count))
    forEach([&](int64_t i, size_t left) HWY_ATTR {
      const V shifted = hn::Sub(loadLanes(d, x + k * stride + i, left), loadLanes(d, largest + i, left));
      const V e = softmaxWeight(d, shifted, kPowers);
      storeLanes(hn::Add(loadLanes(d, sum + i, left), e), d, sum + i, left);
      if (!logarithm) storeLanes(e, d, y + k * stride + i, left);
    });
  for (int64_t i = 0; i < count; ++i) sum[i] = logarithm ? largest[i] + std::log(sum[i]) : 1 / sum[i];
  for (int64_t k = 0; k < size; ++k, work.pass(count))
    forEach([&](int64_t i, size_t left) HWY_ATTR {
      const V by = loadLanes(d, sum + i, left);
      const int64_t at = k * stride + i;
      const V result = logarithm ? hn::Sub(loadLanes(d, x + at, left), by) : hn::Mul(loadLanes(d, y + at, left), by);
      storeLanes(result, d, y + at, left);
    });
}

}  // namespace

extern const SoftmaxTable kSoftmaxTable;
const SoftmaxTable kSoftmaxTable = {row, columns};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const SoftmaxTable& softmaxTable() { return MAX_CHOOSE_TARGET(kSoftmaxTable); }
}  // namespace max
#endif
