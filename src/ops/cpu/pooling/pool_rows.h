// SPDX-License-Identifier: Apache-2.0
// MaxPool and AveragePool of float32 with the channels first, a row of a plane after the other: for pools between
// operators that keep the channels first, where moving them would take longer than the pool.
#pragma once

#include <memory>

#include "ops/op_kernel.h"

namespace max {

bool acceptsPoolRows(const OpRequest& request);
std::unique_ptr<OpKernel> createMaxPoolRows(const OpRequest& request);
std::unique_ptr<OpKernel> createAveragePoolRows(const OpRequest& request);

}  // namespace max
