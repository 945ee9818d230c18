// SPDX-License-Identifier: Apache-2.0
// Aligned copies of weights that lie in files at odd places, one for all models of the process.
#pragma once

#include "base/tensor.h"

namespace max {

// The tensor itself if it is aligned; a copy that lives as long as somebody uses it else.
Ref<Tensor> alignedWeight(const Tensor& tensor);

}  // namespace max
