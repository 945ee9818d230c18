// SPDX-License-Identifier: Apache-2.0
// Products of bytes on the chip's matrix instructions: kernels' texts, and what operators of integers have in common.
#pragma once

#include <initializer_list>
#include <string>

#include "ops/gpu/gpu_operators.h"

namespace max {

// ByteSource, which reads a matrix, takeBytes(), and multiplyBytes(), whose sums are exact modulo 2^32.
std::string byteFunctions();

// requantized(): a sum becomes an 8-bit number, without the zero point.
const char* requantizedSource();

// ", const T* name" for each input that the node has, and ", name".
std::string parametersOf(const Node& node, std::initializer_list<const char*> names);
std::string argumentsOf(const Node& node, std::initializer_list<const char*> names);

// Elements of an operand that has at least one, or is omitted.
int64_t countOf(const OpRequest& request, size_t input);

// Whether kernels have all inputs' types.
bool haveTypes(const Node& node);

}  // namespace max
