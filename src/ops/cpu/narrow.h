// SPDX-License-Identifier: Apache-2.0
// Values of float32 nodes that are bfloat16 in memory.
#pragma once

#include "ops/op_kernel.h"

namespace max {

inline bool isNarrow(const Operand& operand) { return operand.dtype == DType::BFloat16; }

// Whether all operands are float32, or bfloat16 where that is allowed.
bool areFloats(const OpRequest& request, const NarrowOperands& narrow = {});

constexpr uint32_t operandBit(int i) { return 1u << i; }

// Of a product or convolution of words: A, whose depth must be even, a residual, and the result. `readers`: rows that
// contain an element of A, on average.
inline NarrowOperands narrowProduct(int64_t depth, double readers = 1) {
  return {(depth % 2 == 0 ? operandBit(0) : 0) | operandBit(3), operandBit(0), false, readers};
}

// Of a node that moves elements of its first inputs to its outputs.
NarrowOperands narrowTogether(const Node& node, size_t inputs);

// Whether the node's products are bfloat16 on this machine, so that its operands may be narrow.
bool mayBeNarrow(const Node& node);

}  // namespace max
