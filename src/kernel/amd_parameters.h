// SPDX-License-Identifier: Apache-2.0
// What an AMD code object says about the parameters of its kernels; HIP's driver does not tell.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace max {

// Sizes in bytes of the parameters; none if the code is no ELF file that tells about this kernel.
std::optional<std::vector<size_t>> amdParameterSizes(std::string_view code, std::string_view kernel);

}  // namespace max
