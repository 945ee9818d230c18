// SPDX-License-Identifier: Apache-2.0
// Buffers to and from DLPack tensors.
#pragma once

#include "device/buffer.h"

namespace max {

// `stream` = NULL: the default stream of the tensor's device. On success the result owns the tensor.
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensorVersioned& tensor, MaxStream* stream, bool copy);
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensor& tensor, MaxStream* stream, bool copy);

DLManagedTensorVersioned* bufferToDlpack(const MaxBuffer& buffer);
DLManagedTensor* bufferToDlpackUnversioned(const MaxBuffer& buffer);

}  // namespace max
