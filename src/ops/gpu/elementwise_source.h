// SPDX-License-Identifier: Apache-2.0
// Kernels for elementwise programs: the same instructions as on the CPU, a thread for each element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/cpu/elementwise/elementwise.h"

namespace max {

// What kernels begin with: a function for each instruction, such as opAdd(x, y), on numbers of any type.
const char* kernelFunctions();

// Larger programs run on the host.
inline constexpr size_t kMaxGpuInputs = 12;

// The source of a kernel `gpu_elementwise`. Its parameters: an ElementwiseLayout, the inputs, the output, then 8 bytes
// for each of elementwiseValues(). nullopt if it has instructions that no kernel has.
std::optional<std::string> elementwiseSource(const ElementwiseProgram& program);

// What programs of one source may differ in: constants, then the parameters of instructions.
std::vector<uint64_t> elementwiseValues(const ElementwiseProgram& program);

}  // namespace max
