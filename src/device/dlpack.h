// SPDX-License-Identifier: Apache-2.0
// Buffers to and from DLPack tensors.
#pragma once

#include "device/buffer.h"

namespace max {

struct DlpackImport {
  MaxStream* stream = nullptr;    // NULL = the default stream of the tensor's device
  MaxStream* producer = nullptr;  // `stream` waits for it; NULL = the data is ready
  MaxDlpackCopy copy = MAX_DLPACK_COPY_IF_NEEDED;
};

// On success the result owns the tensor.
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensorVersioned& tensor, const DlpackImport& import);
Ref<MaxBuffer> bufferFromDlpack(DLManagedTensor& tensor, const DlpackImport& import);

struct DlpackExport {
  MaxStream* consumer = nullptr;  // its work waits for the data; NULL = the host waits
  bool waits = true;              // otherwise neither waits
};

DLManagedTensorVersioned* bufferToDlpack(const MaxBuffer& buffer, const DlpackExport& options);
DLManagedTensor* bufferToDlpackUnversioned(const MaxBuffer& buffer, const DlpackExport& options);

}  // namespace max
