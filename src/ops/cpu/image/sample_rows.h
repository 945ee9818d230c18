// SPDX-License-Identifier: Apache-2.0
// Weighted sums of channels-last pixels, for each CPU target (sample_rows.cpp).
#pragma once

#include <cstdint>

namespace max {

struct SampleTable {
  // out[c] = the sum of weights[k] * x[offsets[k] + c], c < channels, k < count.
  void (*rows)(const float* x, const int64_t* offsets, const float* weights, int64_t count, int64_t channels,
               float* out);
};

const SampleTable& sampleTable();  // of the CPU target of now

}  // namespace max
