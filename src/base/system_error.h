// SPDX-License-Identifier: Apache-2.0
// What the system answers, as errors.
#pragma once

#include <string_view>

namespace max {

// Throws the status that belongs to `error` (an errno value): "Cannot open 'x': No such file or directory".
[[noreturn]] void failErrno(int error, std::string_view action, std::string_view path);
// Of a file that could not be made: what it lacks is its folder.
[[noreturn]] void failCreate(int error, std::string_view path);

}  // namespace max
