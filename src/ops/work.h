// SPDX-License-Identifier: Apache-2.0
// The work of a node, from shapes and attributes: estimates that bound it, and counts for profiles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ops/op_kernel.h"

namespace max {

// Approximate number of element operations, at most UINT64_MAX; nullopt if shapes and attributes do not determine it.
// Limits constant folding: a few bytes may ask for hours of work.
std::optional<uint64_t> estimateWork(const Node& node, std::span<const Operand> inputs,
                                     std::span<const Operand> outputs);

// Multiplications of operators that are convolutions or products of matrices in the main; 0 for others.
uint64_t countMultiplications(const Node& node, std::span<const Operand> inputs, std::span<const Operand> outputs);

// Bytes that the node reads and writes. An operator that selects reads as much as it returns.
uint64_t countBytes(const Node& node, std::span<const Operand> inputs, std::span<const Operand> outputs);

}  // namespace max
