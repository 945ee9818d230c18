// SPDX-License-Identifier: Apache-2.0
// Products by the library of the device's vendor, where there is one.
#pragma once

#include <functional>
#include <memory>

#include "device/device_product.h"
#include "ops/gpu/launch.h"

namespace max {

// What a product is finished with: a launch of the kernel of that number, which is given the arguments.
using ProductFinish = std::function<std::unique_ptr<LaunchOp>()>;

// NULL = the product is small, or the library lacks it. Biases and addends of the shape are the inputs 2 and 3. What
// `finish` makes changes the results in place.
std::unique_ptr<OpKernel> libraryProduct(const Placed& placed, const DeviceProductShape& shape,
                                         const ProductFinish& finish);

// The same with float32 sums in the scratch memory, from which what `finish` makes takes them.
std::unique_ptr<OpKernel> librarySums(const Placed& placed, const DeviceProductShape& shape,
                                      const ProductFinish& finish);

// What follows the text of a product, and its kernels, the last ones: gpu_activate, which changes `count` elements in
// place by activated(), as in activation.h, and gpu_narrow, which rounds two arrays to bfloat16.
const char* libraryKernels();
enum LibraryKernel : size_t { kActivate, kNarrow, kLibraryKernels };
inline size_t numberOf(const Placed& placed, LibraryKernel kernel) {
  return placed.kernels().size() - kLibraryKernels + kernel;
}

}  // namespace max
