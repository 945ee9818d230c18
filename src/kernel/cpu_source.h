// SPDX-License-Identifier: Apache-2.0
// Converts a preprocessed kernel source to plain C++.
#pragma once

#include <string>
#include <string_view>

namespace max {

// Prefix that compilers put before the names of a source's headers.
inline constexpr std::string_view kCpuHeaders = "../include/";

// Rewrites what the host's compiler does not support (__global__, __shared__, __launch_bounds__, __noinline__) without
// moving a line, and adds the table of kernels at the end.
std::string hostSourceOf(std::string_view preprocessed);

}  // namespace max
