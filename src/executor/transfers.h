// SPDX-License-Identifier: Apache-2.0
// Steps that a plan has between a model's accelerators and the host, and copies to outputs.
#pragma once

#include <cstddef>
#include <memory>

#include "executor/settings.h"
#include "ops/op_kernel.h"

namespace max {

// A copy between memory of the host or accelerators, in the order of the streams. Only a copy within the host is done
// when the step ends.
std::unique_ptr<OpKernel> makeCopy(size_t bytes, Memory source, Memory target);

// The host waits for the stream of its place: what was copied to it can be read.
std::unique_ptr<OpKernel> makeWait();

}  // namespace max
