// SPDX-License-Identifier: Apache-2.0
// Buffers to and from DLPack tensors.
#pragma once

#include "device/buffer.h"

namespace max {

struct DlpackImport {
  MaxStream* stream = nullptr;    // NULL = the default stream of the tensor's device
  MaxStream* producer = nullptr;  // waited for in the order of `stream`; NULL = the data is there
  bool copy = false;
};

// On success the result owns the tensor.
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensorVersioned& tensor, const DlpackImport& import);
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensor& tensor, const DlpackImport& import);

// Work on `consumer` finds the data there; NULL = the host waits for it.
DLManagedTensorVersioned* bufferToDlpack(const MaxBuffer& buffer, MaxStream* consumer);
DLManagedTensor* bufferToDlpackUnversioned(const MaxBuffer& buffer, MaxStream* consumer);

}  // namespace max
