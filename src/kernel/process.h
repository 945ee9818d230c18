// SPDX-License-Identifier: Apache-2.0
// Other programs, run without a shell.
#pragma once

#include <string>
#include <vector>

namespace max {

// Runs a program, found in PATH if its name has no slash, in a folder; its output goes to the file `output` there.
// Returns whether it succeeded; false if it does not exist.
bool runProgram(const std::vector<std::string>& command, const std::string& folder, const std::string& output);

}  // namespace max
