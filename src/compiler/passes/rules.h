// SPDX-License-Identifier: Apache-2.0
// Groups of rules that the pass "simplify" joins.
#pragma once

#include <span>

#include "compiler/rewrite.h"

namespace max {

std::span<const Rule> viewRules();        // Reshape, Squeeze, Unsqueeze, Flatten, Expand
std::span<const Rule> movementRules();    // Transpose, Slice, Pad, Concat, Tile
std::span<const Rule> arithmeticRules();  // neutral elements, powers, casts
std::span<const Rule> reductionRules();   // reductions in one form

}  // namespace max
