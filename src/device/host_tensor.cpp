// SPDX-License-Identifier: Apache-2.0
#include "device/host_tensor.h"

#include "device/device_registry.h"
#include "device/memory_use.h"

namespace max {

Ref<Tensor> copiedTensor(const MaxBuffer& buffer) {
  awaitContents(buffer);
  const Ref<MaxDevice> host = hostDevice();
  return buffer.clone(host->defaultStream())->toTensor();
}

Ref<Tensor> hostTensor(const MaxBuffer& buffer) {
  if (!buffer.isHostAccessible() || !buffer.isContiguous()) return copiedTensor(buffer);
  awaitContents(buffer);
  return buffer.toTensor();
}

}  // namespace max
