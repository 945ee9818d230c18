// SPDX-License-Identifier: Apache-2.0
// Products by the library of the device's vendor, where there is one.
#pragma once

#include <functional>
#include <memory>

#include "device/device_product.h"
#include "ops/gpu/launch.h"

namespace max {

// NULL = the product is small, or the library lacks it. A launch of the kernel that `finish` chooses and gives its
// arguments finishes `count` sums in the scratch memory, which are float32; without it the product writes the output.
std::unique_ptr<OpKernel> libraryProduct(const Placed& placed, const DeviceProductShape& shape,
                                         const std::function<std::unique_ptr<LaunchOp>()>& finish);

}  // namespace max
