// SPDX-License-Identifier: Apache-2.0
// Rule groups of the pass "simplify", and rules of several passes.
#pragma once

#include <span>

#include "compiler/rewrite.h"

namespace max {

std::span<const Rule> viewRules();        // Reshape, Squeeze, Unsqueeze, Flatten, Expand
std::span<const Rule> movementRules();    // Transpose, Slice, Pad, Concat, Tile
std::span<const Rule> arithmeticRules();  // neutral elements, powers, casts
std::span<const Rule> reductionRules();   // canonical reductions

// Whether a tensor has more than one element, and all are the same.
bool isUniform(Rewriter& rewriter, const Tensor& tensor);

// A Transpose of the last two axes of an operand of max.MatMul becomes an attribute.
bool absorbTranspose(Rewriter& rewriter, Node& node);

}  // namespace max
