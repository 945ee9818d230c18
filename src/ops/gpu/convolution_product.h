// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of matrices.
#pragma once

#include "ops/gpu/gpu_operators.h"

namespace max {

// max.Conv, channels last, of constant weights with several channels and filters; NULL for others, and for what the
// device does not compute.
Ref<Placed> placeConvolutionProduct(const Node& node);

}  // namespace max
