// SPDX-License-Identifier: Apache-2.0
// Pooling over channels-last tensors, for each CPU target (pool_simd.cpp).
#pragma once

#include <cstdint>

namespace max {

// The pixels of a window inside the input: counts and strides (in elements) along three spatial axes. Those of
// `outputs` consecutive pixels of the output, which lie `outStep` elements apart, are `step` elements from each other.
struct PoolWindow {
  int64_t count[3];
  int64_t stride[3];
  int64_t outputs, step, outStep;
};

struct PoolTable {
  // y[output, c] = the greatest x[output, tap, c].
  void (*greatest)(const float* x, const PoolWindow& window, int64_t channels, float* y);
  void (*greatestNarrow)(const uint16_t* x, const PoolWindow& window, int64_t channels, uint16_t* y);  // of bfloat16
  void (*greatestInt8)(const int8_t* x, const PoolWindow& window, int64_t channels, int8_t* y);
  void (*greatestUInt8)(const uint8_t* x, const PoolWindow& window, int64_t channels, uint8_t* y);
  // y[output, c] = factor * the sum of x[output, tap, c].
  void (*sum)(const float* x, const PoolWindow& window, int64_t channels, float factor, float* y);
};

const PoolTable& poolTable();  // of the CPU target of now

}  // namespace max
