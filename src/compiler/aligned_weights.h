// SPDX-License-Identifier: Apache-2.0
// Aligned copies of weights that are unaligned in their files, shared by all models of the process.
#pragma once

#include "base/tensor.h"

namespace max {

// The tensor itself if it is aligned, else a copy that lives as long as it is used.
Ref<Tensor> alignedWeight(const Tensor& tensor);

}  // namespace max
