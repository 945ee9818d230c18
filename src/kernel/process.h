// SPDX-License-Identifier: Apache-2.0
// Other programs, run without a shell.
#pragma once

#include <string>
#include <vector>

namespace max {

// Runs a program, found in PATH if its name has no slash, in a folder; what it prints goes into the file `output`
// there. Returns whether it ended well; a program that is not there did not.
bool runProgram(const std::vector<std::string>& command, const std::string& folder, const std::string& output);

}  // namespace max
