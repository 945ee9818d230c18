// SPDX-License-Identifier: Apache-2.0
// Types that attributes name.
//
// Readers take the node's inputs (NodeInputs) where what they read hangs on ranks or contents, and attributes alone
// (Attributes) where it does not: passes and what packs weights at load have a node, but no types of its inputs.
// Who calls either names the node in what fails.
#pragma once

#include <string_view>

#include "base/dtype.h"
#include "graph/graph.h"

namespace max::readers {

// ONNX's number of a type; fails on numbers that are none.
DType readType(const Attributes& attributes, std::string_view name, DType fallback);
// Of what generators and sequences are made.
DType readElementType(const Attributes& attributes, DType fallback);
// Cast, BitCast: what the elements become.
DType readCastType(const Attributes& attributes);
// Optional: dtypes, outermost first, as the importer writes them.
TensorType readOptionalType(const Attributes& attributes);

}  // namespace max::readers
