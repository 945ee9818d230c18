// SPDX-License-Identifier: Apache-2.0
// The contents of buffers as tensors in host memory, for graphs and weights.
#pragma once

#include "base/ref.h"
#include "base/tensor.h"
#include "device/buffer.h"

namespace max {

// A dense private copy in host memory.
Ref<Tensor> copiedTensor(const MaxBuffer& buffer);
// The buffer's memory if it is dense and the host can access it, else a copy.
Ref<Tensor> hostTensor(const MaxBuffer& buffer);

}  // namespace max
