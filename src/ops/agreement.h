// SPDX-License-Identifier: Apache-2.0
// Determines a node's outputs before anything depends on them: dtype, kind and shape, as its operator's row derives
// them from the actual operands, checked against the types of the graph, on which the compiler relied. Used by plans,
// folding and nodes that run separately.
#pragma once

#include <span>
#include <vector>

#include "graph/schema.h"
#include "ops/op_kernel.h"

namespace max {

using Inferred = std::vector<InferContext::Output>;

// The outputs that the node requests (others are omitted), for the operands that `inferred` was derived from; false if
// a type or shape is only known after running. Throws INVALID_ARGUMENT if the graph has another type, and for views
// with another number of elements.
bool agreeOnOutputs(const Node& node, std::span<const Operand> inputs, const Inferred& inferred,
                    std::vector<Operand>& outputs);

// Throws INVALID_ARGUMENT unless a value can be output `i` according to the row and the graph. `expected` may be NULL
// for values not derived by a row: those of branches.
void requireAgreed(const Node& node, size_t i, const TensorType* expected, DType dtype, const Shape& shape);

// The same for all outputs of a node whose shapes are only known after running. Every requested output must exist.
void requireAgreed(const Node& node, const Inferred& expected, std::span<const Ref<Tensor>> results);

// Whether the byte count of every part of a shape fits, also for shapes like [2^62, 0]: loops over a value multiply
// dimensions unchecked.
bool isCountable(const Shape& shape);

// Whether a value of this dtype matches the type. Contents match an optional.
bool isDeclared(const TensorType& type, DType dtype);

// There is nothing to compute: no output has elements, and the operator has no
// other effect. (Those that may, have kTraitRandom.)
bool isDone(const Node& node, std::span<const Operand> outputs);

}  // namespace max
