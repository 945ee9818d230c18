// SPDX-License-Identifier: Apache-2.0
#include "ops/device_operators.h"

#include "device/stream.h"

namespace max {

Ref<Storage> uploaded(const Tensor& tensor, MaxDevice& device) {
  MaxStream& stream = device.defaultStream();
  Ref<Storage> copy = device.allocate(tensor.bytes(), {}, stream);
  stream.copy({copy->data(), copy}, {const_cast<void*>(tensor.data()), tensor.storage()}, tensor.bytes(),
              MAX_COPY_KIND_HOST_TO_DEVICE);
  return copy;
}

}  // namespace max
