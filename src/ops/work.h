// SPDX-License-Identifier: Apache-2.0
// How much there is to do for a node, told from shapes and attributes before it is done.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ops/op_kernel.h"

namespace max {

// About so many operations on elements, UINT64_MAX for more; nullopt where shapes and attributes do not tell. What is
// computed ahead of its time is held to it: a few bytes may ask for hours.
std::optional<uint64_t> estimateWork(const Node& node, std::span<const Operand> inputs,
                                     std::span<const Operand> outputs);

}  // namespace max
