// SPDX-License-Identifier: Apache-2.0
// The kernel that runs elementwise programs.
#pragma once

#include "ops/cpu/elementwise/elementwise.h"
#include "ops/op_kernel.h"

namespace max {

// `shapes`: one per input of the program, broadcasting to `output`.
std::unique_ptr<OpKernel> makeElementwiseOp(Ref<ElementwiseProgram> program, const Shape& output,
                                            std::span<const Shape> shapes, int lanes);

}  // namespace max
