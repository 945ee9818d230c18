// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, on types below 8 bits.
#pragma once

#include "ops/op_kernel.h"

namespace max {

// A kernel that gives every packed element a byte of its own, runs the operator's kernel for 8-bit elements, and packs
// the results. NULL if the request has no packed operands. Meant for operators whose outputs
// hold elements of their inputs; the schemas keep others from packed types.
std::unique_ptr<OpKernel> createUnpackedOp(const OpRequest& request);

}  // namespace max
