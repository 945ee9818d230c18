// SPDX-License-Identifier: Apache-2.0
// Pooling over channels-last tensors and over planes, for each CPU target (pool_simd.cpp).
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

// The rows of a plane that a row of the output sees, and its part of a mean.
struct PoolSpan {
  int64_t first, count;
  float share;
};

// Rows of the output of a plane. What they see of each column is joined first, then neighbours in that.
struct PoolRows {
  const float* x;             // the first slice that the windows see
  int64_t slices, sliceStep;  // of these; floats from one to the next
  const PoolSpan* rows;       // for each row of the output
  int64_t count;
  int64_t width, rowStep;  // of the input; floats from one row that a window sees to the next
  int64_t taps, dilation, stride;
  float* joined;  // a row with borders for each of the output; borders have what joining leaves as it is
  int64_t before, joinedStep;
  float share;          // of a slice,
  const float* shares;  // of each column of the output
  int64_t outWidth;
  float* out;
};

// Whole planes of few rows, and windows without dilation across. Neighbours in a row are joined first, then rows.
struct PoolPlanes {
  const float* x;
  int64_t planes, height, width;
  const PoolSpan* rows;          // for each row of the output,
  int64_t outHeight, rowsApart;  // of which each sees rows so far apart
  int64_t before;                // elements of the first window in the padding
  const float* shares;           // of each column of the output
  int64_t outWidth;
  float* out;
};
using PoolPlanesFunction = void (*)(const PoolPlanes& planes);
struct PoolPlanesTable {
  PoolPlanesFunction (*of)(bool isMean, int64_t taps, int64_t stride, int64_t outWidth);
};
inline constexpr int64_t kMostPlaneRows = 64;

// With so many taps across, and that stride; NULL if the CPU target has no such function.
PoolPlanesFunction poolPlanesOf(bool isMean, int64_t taps, int64_t stride, int64_t outWidth);

struct PoolTable {
  // y[output, c] = the greatest x[output, tap, c].
  void (*greatest)(const float* x, const PoolWindow& window, int64_t channels, float* y);
  void (*greatestNarrow)(const uint16_t* x, const PoolWindow& window, int64_t channels, uint16_t* y);  // of bfloat16
  void (*greatestInt8)(const int8_t* x, const PoolWindow& window, int64_t channels, int8_t* y);
  void (*greatestUInt8)(const uint8_t* x, const PoolWindow& window, int64_t channels, uint8_t* y);
  // y[output, c] = factor * the sum of x[output, tap, c].
  void (*sum)(const float* x, const PoolWindow& window, int64_t channels, float factor, float* y);
  void (*greatestOfRows)(const PoolRows& rows);
  void (*meansOfRows)(const PoolRows& rows);
};

const PoolTable& poolTable();  // of the CPU target of now

}  // namespace max
