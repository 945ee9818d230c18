// SPDX-License-Identifier: Apache-2.0
// How the command fails: exit status 1 for a Failure, 2 for a UsageError, with one line on standard error.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace max::cli {

// "STATUS_NAME: message", for exit status 1. A compiler's log follows on separate lines.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& status, const std::string& message, std::string log = {})
      : std::runtime_error(status + ": " + message), log_(std::move(log)) {}
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

// Names the argument that is wrong, for exit status 2.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error("INVALID_ARGUMENT: " + message) {}
};

}  // namespace max::cli
