// SPDX-License-Identifier: Apache-2.0
// Reads a kernel's parameters from PTX, for drivers that do not report them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace max {

// Sizes in bytes of the parameters; none if the text has no such kernel or cannot be parsed.
std::optional<std::vector<size_t>> ptxParameterSizes(std::string_view ptx, std::string_view kernel);

}  // namespace max
