// SPDX-License-Identifier: Apache-2.0
// How the command ends: 1 with a Failure, 2 with a UsageError, each one line on standard error.
#pragma once

#include <stdexcept>
#include <string>

namespace max::cli {

// "STATUS_NAME: message", for exit status 1.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& status, const std::string& message) : std::runtime_error(status + ": " + message) {}
};

// Names the argument that is wrong, for exit status 2.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error("INVALID_ARGUMENT: " + message) {}
};

}  // namespace max::cli
