// SPDX-License-Identifier: Apache-2.0
// Errors with a log from another program: a compiler's log follows the first line of the message.
#pragma once

#include "base/error.h"

namespace max {

class LoggedError final : public Error {
 public:
  LoggedError(MaxStatus status, const std::string& summary, std::string_view log)
      : Error(status, concat(summary, '\n', log)), summarySize_(summary.size()) {}

  std::string_view summary() const { return std::string_view(message()).substr(0, summarySize_); }
  std::string_view log() const { return std::string_view(message()).substr(summarySize_ + 1); }

 private:
  size_t summarySize_;
};

}  // namespace max
