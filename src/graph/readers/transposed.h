// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/shape.h"
#include "graph/attributes.h"

namespace max::readers {

// Whether a transposed convolution with such weights has one filter for each channel, whose taps reach every place
// within a stride: kernels with the channels last take each of these places as a depthwise convolution.
bool isPhasedDepthwise(const Attributes& attributes, const Shape& weights);

}  // namespace max::readers
