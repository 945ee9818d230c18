// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/experts/expert_routing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace max {

namespace {

constexpr float kJitter = 0.01f;  // of SparseMixer

// The best experts, best first. NaN comes last.
void choose(int64_t experts, const float* logits, int64_t count, int32_t* order, int32_t* chosen) {
  const auto key = [&](int32_t expert) {
    return std::isnan(logits[expert]) ? -std::numeric_limits<float>::infinity() : logits[expert];
  };
  const auto isBetter = [&](int32_t a, int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a > b; };
  std::iota(order, order + experts, 0);
  std::partial_sort(order, order + count, order + experts, isBetter);
  std::copy_n(order, count, chosen);
}

float softmaxSum(int64_t experts, const float* logits, float largest) {
  float sum = 0;
  for (int64_t expert = 0; expert < experts; ++expert) sum += std::exp(logits[expert] - largest);
  return sum;
}

// The share of the best expert among those close to it, without those already `taken`.
float sparseWeight(int64_t experts, const float* logits, const int32_t* chosen, int64_t taken) {
  const float largest = logits[chosen[taken]];
  float sum = 0;
  for (int32_t expert = 0; expert < experts; ++expert) {
    if (std::find(chosen, chosen + taken, expert) != chosen + taken) continue;
    const float scale = std::max(std::abs(logits[expert]), largest);
    if ((largest - logits[expert]) / scale <= 2 * kJitter || expert == chosen[taken])
      sum += std::exp(logits[expert] - largest);
  }
  return 1 / sum;
}

}  // namespace

void routeToken(const readers::Experts& options, int64_t experts, const float* logits, const float* mixing,
                int32_t* order, int32_t* chosen, float* weights) {
  const int64_t count = options.chosen;
  choose(experts, logits, count, order, chosen);
  if (options.isSparseMixer) {
    for (int64_t i = 0; i < count; ++i) weights[i] = sparseWeight(experts, logits, chosen, i);
    return;
  }
  const float largest = logits[chosen[0]];
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = mixing ? mixing[chosen[i]] : std::exp(logits[chosen[i]] - largest);
    sum += weights[i];
  }
  if (!options.normalizes) sum = mixing ? 1 : softmaxSum(experts, logits, largest);
  for (int64_t i = 0; i < count; ++i) weights[i] /= sum;
}

}  // namespace max
