// SPDX-License-Identifier: Apache-2.0
// The contents of buffers as tensors in host memory, for graphs and weights.
#pragma once

#include "base/ref.h"
#include "base/tensor.h"
#include "device/buffer.h"

namespace max {

// A dense copy in host memory that nobody else writes.
Ref<Tensor> copiedTensor(const MaxBuffer& buffer);
// The buffer's memory where it is dense and the host reaches it, else a copy.
Ref<Tensor> hostTensor(const MaxBuffer& buffer);

}  // namespace max
