// SPDX-License-Identifier: Apache-2.0
// One token of a linear attention head, and causal convolutions, for each CPU target (linear_attention_simd.cpp).
#pragma once

#include <cstdint>

namespace max {

// The state is [depth, width]. Every token decays it, adds key x value, and reads it with the queries that share it.
struct LinearToken {
  float* state;
  int64_t depth, width;
  const float* decay;    // factors per row of the state; NULL = none
  const float* key;      // [depth]
  const float* value;    // [width]
  bool corrects;         // the key's current value is subtracted from the value,
  float rate;            // the rest is scaled
  float* written;        // [width], working memory
  const float* queries;  // [shared][depth]
  int64_t shared;
  float scale;
  float* out;  // [shared][width]
};

struct LinearAttentionTable {
  void (*token)(const LinearToken& token);
  // out[i] = bias + the sum of weights[k] * x[i + k], i < count, k < taps.
  void (*slide)(const float* x, const float* weights, int64_t taps, float bias, int64_t count, float* out);
};

const LinearAttentionTable& linearAttentionTable();  // of the CPU target of now

}  // namespace max
