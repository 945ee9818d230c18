// SPDX-License-Identifier: Apache-2.0
// Samples between the pixels of an image.
#pragma once

#include "ops/ref/reference.h"

namespace max::reference {

// The pixels and weights of one sample along each axis.
struct SampleTaps {
  int count;
  std::vector<int64_t> pixels;
  std::vector<double> weights;

  SampleTaps(int rank, int count_)
      : count(count_), pixels(static_cast<size_t>(rank * count_)), weights(static_cast<size_t>(rank * count_)) {}
};

// The sum of all combinations of taps in an image of one channel.
double sample(const double* image, const Shape& strides, const SampleTaps& taps);

}  // namespace max::reference
