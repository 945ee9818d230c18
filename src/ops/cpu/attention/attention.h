// SPDX-License-Identifier: Apache-2.0
// Attention kernels per CPU target, besides the matrix product.
#pragma once

#include <cstdint>

namespace max {

// One query's softmax over the keys, processed in blocks.
struct SoftmaxRow {
  float* scores;  // of this block; become weights
  int64_t count;
  const float* mask;  // added first; NULL = none
  int64_t maskStep;   // 1, or 0 if all keys share one value
  float largest;      // so far
  float sum;          // so far, relative to `largest`
};

struct AttentionTable {
  // Converts a block's scores to weights. Returns the factor that rescales earlier sums to the new maximum.
  float (*update)(SoftmaxRow& row);
  // The same for weights of bfloat16 in `words`, an even number of elements; the scores keep what they are.
  float (*updateWords)(SoftmaxRow& row, uint16_t* words);
  void (*scale)(const float* from, float factor, int64_t count, float* to);
  // Whether all numbers of a mask are -infinity.
  bool (*hidesAll)(const float* mask, int64_t count);
};
const AttentionTable& attentionTable();  // of cpuTarget()

}  // namespace max
