// SPDX-License-Identifier: Apache-2.0
// What a node's outputs are, agreed on before anything is made for them or of them: dtype, kind and shape as the row of
// its operator derives them from the operands that are there, held against the types of the graph, on which the
// compiler relied. Plans, folding and what runs on its own all ask here.
#pragma once

#include <span>
#include <vector>

#include "graph/schema.h"
#include "ops/op_kernel.h"

namespace max {

using Inferred = std::vector<InferContext::Output>;

// The outputs that the node asks for (others are left out), of operands that `inferred` was derived from; false if only
// running tells the type or shape of one. Throws INVALID_ARGUMENT where the graph has another type, and for views of
// another number of elements.
bool agreeOnOutputs(const Node& node, std::span<const Operand> inputs, const Inferred& inferred,
                    std::vector<Operand>& outputs);

// Throws INVALID_ARGUMENT unless a value can stand for output `i`, as the row and the graph have it. `expected` may be
// NULL, which is for values that no row derives: those of branches.
void requireAgreed(const Node& node, size_t i, const TensorType* expected, DType dtype, const Shape& shape);

// The same for all outputs that a node made when only running told their shapes. Each that it asks for must be there.
void requireAgreed(const Node& node, const Inferred& expected, std::span<const Ref<Tensor>> results);

// Whether the bytes of any part of a shape are a number, for shapes like [2^62, 0] too: who walks over a value
// multiplies dimensions without looking.
bool isCountable(const Shape& shape);

// Whether a value of this dtype can stand for one of this type. An optional may be what it would hold.
bool isDeclared(const TensorType& type, DType dtype);

// Nothing is to be computed: no output has an element, and the operator does nothing else. (Those that may, have
// kTraitRandom.)
bool isDone(const Node& node, std::span<const Operand> outputs);

}  // namespace max
