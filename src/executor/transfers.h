// SPDX-License-Identifier: Apache-2.0
// Steps that a plan has between a model's accelerator and the host, and copies to outputs.
#pragma once

#include <cstddef>
#include <memory>

#include "ops/op_kernel.h"

namespace max {

// A copy between memory of the host or the accelerator, in the order of the model's stream. Only a copy within the host
// is done when the step ends.
std::unique_ptr<OpKernel> makeCopy(size_t bytes, bool fromDevice, bool toDevice);

// The host waits for the stream: what was copied to it can be read.
std::unique_ptr<OpKernel> makeWait();

}  // namespace max
