// SPDX-License-Identifier: Apache-2.0
// Weighted sums of pixels, for each CPU target (sample_rows.cpp).
#pragma once

#include <cstdint>

namespace max {

// Channels of an image, each a plane, and what is sampled of them.
struct SampledPlanes {
  const float* x;
  int64_t channels, height, width;
  bool alignsCorners;  // of the grid
  bool isNearest;      // pixels are not interpolated
  float* out;
  int64_t outStride;  // from one channel's results to the next
};

struct SampleTable {
  // out[c] = the sum of weights[k] * x[offsets[k] + c], c < channels, k < count.
  void (*rows)(const float* x, const int64_t* offsets, const float* weights, int64_t count, int64_t channels,
               float* out);
  // Linear in both axes, or the nearest pixel; `grid` has two coordinates for each of `count` results. Pixels outside
  // the image are zero.
  void (*planes)(const SampledPlanes& planes, const float* grid, int64_t count);
};

const SampleTable& sampleTable();  // of the CPU target of now

}  // namespace max
