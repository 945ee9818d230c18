// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, on types below 8 bits.
#pragma once

#include "ops/op_kernel.h"

namespace max {

// A kernel that unpacks elements to bytes, runs the operator's kernel for 8-bit elements, and packs the results. NULL
// if the request has no packed operands. For operators whose outputs contain elements of their inputs; the schemas
// exclude packed types for others.
std::unique_ptr<OpKernel> createUnpackedOp(const OpRequest& request);

}  // namespace max
