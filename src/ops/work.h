// SPDX-License-Identifier: Apache-2.0
// Estimates the work of a node from shapes and attributes.
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

}  // namespace max
