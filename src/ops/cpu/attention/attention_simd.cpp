// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/cpu/attention/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/attention/attention_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/math-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr float kLowest = -std::numeric_limits<float>::infinity();

HWY_INLINE float largestOf(V v) {
  const D d;
  return hn::GetLane(hn::MaxOfLanes(d, v));
}

float largestScore(const float* scores, int64_t count) {
  const D d;
  V largest = hn::Set(d, kLowest);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) largest = hn::Max(largest, hn::LoadU(d, scores + i));
  float result = largestOf(largest);
  for (; i < count; ++i) result = scores[i] > result ? scores[i] : result;
  return result;
}

void addMask(const SoftmaxRow& row) {
  const D d;
  const V same = hn::Set(d, row.maskStep ? 0.f : row.mask[0]);
  int64_t i = 0;
  for (; i + kLanes <= row.count; i += kLanes)
    hn::StoreU(hn::Add(hn::LoadU(d, row.scores + i), row.maskStep ? hn::LoadU(d, row.mask + i) : same), d,
               row.scores + i);
  for (; i < row.count; ++i) row.scores[i] += row.mask[i * row.maskStep];
}

float update(SoftmaxRow& row) {
  const D d;
  if (row.mask) addMask(row);
  const float found = largestScore(row.scores, row.count);
  const float largest = found > row.largest ? found : row.largest;
  // A fully masked row has no maximum; its weights and sum are 0.
  const float base = largest == kLowest ? 0.f : largest;
  const V shift = hn::Set(d, base);
  V sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kLanes <= row.count; i += kLanes) {
    const V weight = exp(d, hn::Sub(hn::LoadU(d, row.scores + i), shift));
    hn::StoreU(weight, d, row.scores + i);
    sum = hn::Add(sum, weight);
  }
  if (i < row.count) {
    const int64_t rest = row.count - i;
    const V weight = exp(d, hn::Sub(loadFirst(d, row.scores + i, rest), shift));
    storeFirst(d, weight, row.scores + i, rest);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(rest)), weight));
  }
  const float factor = row.largest == kLowest ? 0.f : hn::GetLane(exp(d, hn::Set(d, row.largest - base)));
  row.sum = row.sum * factor + sumOf(d, sum);
  row.largest = largest;
  return factor;
}

void scale(float* values, float factor, int64_t count) {
  const D d;
  const V by = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(d, values + i), by), d, values + i);
  for (; i < count; ++i) values[i] *= factor;
}

bool hidesAll(const float* mask, int64_t count) { return largestScore(mask, count) == kLowest; }

}  // namespace

extern const AttentionTable kAttentionTable;
constexpr AttentionTable kAttentionTable = {update, scale, hidesAll};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const AttentionTable& attentionTable() { return MAX_CHOOSE_TARGET(kAttentionTable); }

}  // namespace max
#endif
