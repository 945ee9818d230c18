// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/shape.h"
#include "graph/attributes.h"

namespace max::readers {

// Whether the taps of a transposed convolution with such weights reach every place within a stride, so that each of
// these places can be a convolution.
bool hasPhases(const Attributes& attributes, const Shape& weights);
// And it has one filter for each channel: kernels with the channels last take depthwise convolutions.
bool isPhasedDepthwise(const Attributes& attributes, const Shape& weights);

}  // namespace max::readers
