// SPDX-License-Identifier: Apache-2.0
// From the expression of a max.Elementwise node to the program that the CPU runs.
#pragma once

#include "graph/expression.h"
#include "ops/cpu/elementwise/elementwise.h"

namespace max {

// Does the node's operator have an instruction, and are the dtypes of its inputs known and served?
bool canFuseElementwise(const Node& node);

// NULL if the program would be too long.
Ref<ElementwiseProgram> lowerElementwise(const Expression& expression);

}  // namespace max
