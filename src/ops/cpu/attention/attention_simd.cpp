// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/cpu/attention/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/attention/attention_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/math-inl.h"
#include "ops/cpu/narrow-inl.h"
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

// Adds the mask to the scores. Returns the largest sum.
float largestMasked(const SoftmaxRow& row) {
  const D d;
  const V same = hn::Set(d, row.maskStep ? 0.f : row.mask[0]);
  V largest = hn::Set(d, kLowest);
  int64_t i = 0;
  for (; i + kLanes <= row.count; i += kLanes) {
    const V sum = hn::Add(hn::LoadU(d, row.scores + i), row.maskStep ? hn::LoadU(d, row.mask + i) : same);
    largest = hn::Max(largest, sum);
    hn::StoreU(sum, d, row.scores + i);
  }
  float result = largestOf(largest);
  for (; i < row.count; ++i) {
    row.scores[i] += row.mask[i * row.maskStep];
    result = row.scores[i] > result ? row.scores[i] : result;
  }
  return result;
}

// Weights that stay float32.
struct FloatWeights {
  float* to;

  static HWY_INLINE V exponential(V x) { return softmaxWeight(D(), x, kPowers); }
  HWY_INLINE void store(V weight, int64_t i, int64_t count) const { storeFirst(D(), weight, to + i, count); }
};

// Weights that are rounded to bfloat16: an error of 1e-5 is a hundredth of that of rounding.
struct NarrowWeights {
  uint16_t* to;

  static HWY_INLINE V exponential(V x) { return softmaxWeight(D(), x, kRoundedPowers); }
  HWY_INLINE void store(V weight, int64_t i, int64_t count) const { storeNarrow(weight, to + i, count); }
};

template <class Weights>
HWY_INLINE float updateRow(SoftmaxRow& row, const Weights& weights) {
  const D d;
  const float found = row.mask ? largestMasked(row) : largestScore(row.scores, row.count);
  const float largest = found > row.largest ? found : row.largest;
  // A fully masked row has no maximum; its weights and sum are 0.
  const float base = largest == kLowest ? 0.f : largest;
  const V shift = hn::Set(d, base);
  V sum = hn::Zero(d);
  const float* scores = row.scores;
  const int64_t count = row.count;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V weight = Weights::exponential(hn::Sub(hn::LoadU(d, scores + i), shift));
    weights.store(weight, i, kLanes);
    sum = hn::Add(sum, weight);
  }
  if (i < count) {
    const int64_t rest = count - i;
    const V weight = Weights::exponential(hn::Sub(loadFirst(d, scores + i, rest), shift));
    weights.store(weight, i, rest);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(rest)), weight));
  }
  const float factor = row.largest == kLowest ? 0.f : hn::GetLane(exp(d, hn::Set(d, row.largest - base)));
  row.sum = row.sum * factor + sumOf(d, sum);
  row.largest = largest;
  return factor;
}

float update(SoftmaxRow& row) { return updateRow(row, FloatWeights{row.scores}); }

float updateWords(SoftmaxRow& row, uint16_t* words) {
  if (row.count % 2) words[row.count] = 0;
  return updateRow(row, NarrowWeights{words});
}

void scale(const float* from, float factor, int64_t count, float* to) {
  const D d;
  const V by = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(d, from + i), by), d, to + i);
  for (; i < count; ++i) to[i] = from[i] * factor;
}

bool hidesAll(const float* mask, int64_t count) { return largestScore(mask, count) == kLowest; }

}  // namespace

extern const AttentionTable kAttentionTable;
constexpr AttentionTable kAttentionTable = {update, updateWords, scale, hidesAll};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const AttentionTable& attentionTable() { return MAX_CHOOSE_TARGET(kAttentionTable); }

}  // namespace max
#endif
