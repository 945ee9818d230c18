// SPDX-License-Identifier: Apache-2.0
// System errors as library errors.
#pragma once

#include <string_view>

namespace max {

// Throws the status that belongs to `error` (an errno value): "Cannot open 'x': No such file or directory".
[[noreturn]] void failErrno(int error, std::string_view action, std::string_view path);
// For a file that could not be created: ENOENT means that its folder is missing.
[[noreturn]] void failCreate(int error, std::string_view path);

}  // namespace max
