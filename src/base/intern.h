// SPDX-License-Identifier: Apache-2.0
// Texts that the C API hands out for good: few, short and often the same, such as names of architectures.
#pragma once

#include <string_view>

namespace max {

// A copy that stays until the process ends; the same one for equal texts. Thread-safe.
const char* intern(std::string_view text);

}  // namespace max
