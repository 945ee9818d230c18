// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of kernels from an AMD code object, since HIP's driver does not report them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace max {

// Sizes in bytes of the parameters; none if the code is not an ELF file with metadata of this kernel.
std::optional<std::vector<size_t>> amdParameterSizes(std::string_view code, std::string_view kernel);

}  // namespace max
