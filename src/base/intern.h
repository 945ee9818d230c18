// SPDX-License-Identifier: Apache-2.0
// Strings that the C API returns as static: few, short and often equal, such as architecture names.
#pragma once

#include <string_view>

namespace max {

// A copy that lives until the process ends, shared by equal strings. Thread-safe.
const char* intern(std::string_view text);

}  // namespace max
