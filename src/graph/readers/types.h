// SPDX-License-Identifier: Apache-2.0
// Types in attributes.
//
// Readers take the node's inputs (NodeInputs) if they depend on ranks or contents, otherwise only its attributes
// (Attributes): passes and weight packing have a node without input types. Callers add the node's name to errors.
#pragma once

#include <string_view>

#include "base/dtype.h"
#include "graph/graph.h"

namespace max::readers {

// A type by ONNX's number; throws for unknown numbers.
DType readType(const Attributes& attributes, std::string_view name, DType fallback);
// The element type of generators and sequences.
DType readElementType(const Attributes& attributes, DType fallback);
// Cast, BitCast: the target type.
DType readCastType(const Attributes& attributes);
// Optional: dtypes, outermost first, as the importer writes them.
TensorType readOptionalType(const Attributes& attributes);

}  // namespace max::readers
