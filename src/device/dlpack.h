// SPDX-License-Identifier: Apache-2.0
// Buffers to and from DLPack tensors.
#pragma once

#include "device/buffer.h"

namespace max {

struct DlpackImport {
  MaxStream* stream = nullptr;    // NULL = the default stream of the tensor's device
  MaxStream* producer = nullptr;  // waited for in the order of `stream`; NULL = the data is there
  MaxDlpackCopy copy = MAX_DLPACK_COPY_IF_NEEDED;
};

// On success the result owns the tensor.
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensorVersioned& tensor, const DlpackImport& import);
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensor& tensor, const DlpackImport& import);

struct DlpackExport {
  MaxStream* consumer = nullptr;  // its work finds the data there; NULL = the host waits for it
  bool waits = true;              // otherwise neither does
};

DLManagedTensorVersioned* bufferToDlpack(const MaxBuffer& buffer, const DlpackExport& options);
DLManagedTensor* bufferToDlpackUnversioned(const MaxBuffer& buffer, const DlpackExport& options);

}  // namespace max
