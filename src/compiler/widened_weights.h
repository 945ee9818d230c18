// SPDX-License-Identifier: Apache-2.0
// Constant weights of products that are float16 or bfloat16 in their file: the Cast that makes floats of them stays
// until they are packed, one after the other.
#pragma once

#include "graph/graph.h"

namespace max {

// Whether a node is such a Cast.
bool widensWeights(const Node& node);

// The value that such a Cast reads to make this one; NULL for others.
const Value* narrowWeights(const Value* value);

}  // namespace max
