// SPDX-License-Identifier: Apache-2.0
// ONNX's Conv with several filters for each channel that come with the call: products of a channel's group would be
// narrow. It is a depthwise convolution that reads each channel several times.
#pragma once

#include "ops/op_kernel.h"

namespace max {

bool acceptsMultiplied(const OpRequest& request);
std::unique_ptr<OpKernel> createMultiplied(const OpRequest& request);

}  // namespace max
