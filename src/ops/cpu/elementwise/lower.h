// SPDX-License-Identifier: Apache-2.0
// From the expression of a max.Elementwise node to the program that the CPU runs.
#pragma once

#include "graph/expression.h"
#include "ops/cpu/elementwise/elementwise.h"

namespace max {

// Does the node's operator have an instruction, and are the dtypes of its inputs known and served?
bool canFuseElementwise(const Node& node);

// NULL if the program would be too long. `stored`: see addElementwiseOutput().
Ref<ElementwiseProgram> lowerElementwise(const Expression& expression, DType stored = DType::Invalid);

// Ends a program with its result, which is rounded where that is float32 and `stored` is bfloat16.
void addElementwiseOutput(ElementwiseBuilder& builder, ElementwiseBuilder::Id result, DType stored);

}  // namespace max
