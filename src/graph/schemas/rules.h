// SPDX-License-Identifier: Apache-2.0
// Shape rules and parts of rules that several tables share.
#pragma once

#include <span>
#include <vector>

#include "graph/readers/windows.h"
#include "graph/schema.h"

namespace max::rules {

// Output 0 has the shape of input 0.
void sameAsFirst(InferContext& context);
// All inputs broadcast to output 0.
void broadcastAll(InferContext& context);

// Unifies two dimensions: the known one of two; throws if they are known and differ.
Dim merge(const NodeInputs& context, Dim a, Dim b, const char* what);
// Throws if both dimensions are known and differ.
void requireEqual(const NodeInputs& context, Dim a, Dim b, const char* what);
void requireRank(const NodeInputs& context, size_t input, int rank);
void requireRankAtLeast(const NodeInputs& context, size_t input, int rank);
// Kernels trust shapes, so an operator's requirements on its inputs are checked here. Absent inputs pass.
void requireShape(const NodeInputs& context, size_t input, const SymbolicShape& shape);
void requireOneElement(const NodeInputs& context, size_t input);
// The input must broadcast to exactly this shape by numpy's rules.
void requireBroadcastsTo(const NodeInputs& context, size_t input, const SymbolicShape& shape);
// The number of elements of a one-dimensional input, if known.
std::optional<int64_t> lengthOf(const NodeInputs& context, size_t input);
// Contents of a numeric scalar or one-element constant of any dtype.
std::optional<double> scalarOf(const NodeInputs& context, size_t input);

// numpy's matrix product.
SymbolicShape matrixProduct(const InferContext& context, SymbolicShape a, SymbolicShape b);

// Number of window positions along an axis, for a pool that may round up.
Dim windowed(const InferContext& context, Dim in, const readers::Windows& windows, size_t axis, bool roundsUp = false);

}  // namespace max::rules
