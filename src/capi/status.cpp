// SPDX-License-Identifier: Apache-2.0
#include "max/status.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "capi/guard.h"
#include "executor/extension.h"

namespace max::capi {

namespace {

// `text` points at `message`, or at a static text when there was no memory for one.
struct LastError {
  std::string message;
  const char* text = "";
};

LastError& lastError() noexcept {
  static thread_local LastError error;
  return error;
}

// Most of a log that is kept.
constexpr size_t kLongestLog = size_t{1} << 20;

std::string printableLines(std::string_view log) {
  std::string text;
  log = log.substr(0, kLongestLog);
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    std::string line(log.substr(0, end));
    std::replace(line.begin(), line.end(), '\t', ' ');
    text += '\n' + max::printable(line);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return text;
}

// `makeMessage` may throw.
template <class Make>
MaxStatus keepError(MaxStatus status, Make makeMessage) noexcept {
  LastError& error = lastError();
  try {
    error.message = makeMessage();
    error.text = error.message.c_str();
    if (std::string* text = max::extensionMessage()) *text = error.message;
  } catch (...) {
    error.text = "Out of memory while reporting an error";
  }
  return status;
}

}  // namespace

MaxStatus reportError(MaxStatus status, const char* message) noexcept {
  return keepError(status, [&] { return max::printable(message); });
}

MaxStatus reportError(const LoggedError& error) noexcept {
  return keepError(error.status(), [&] { return max::printable(error.summary()) + printableLines(error.log()); });
}

MaxStatus reportOutOfMemory() noexcept {
  lastError().text = "Out of host memory";
  return MAX_STATUS_RESOURCE_EXHAUSTED;
}

}  // namespace max::capi

const char* maxStatusGetName(MaxStatus status) { return max::statusName(status); }
const char* maxGetLastErrorMessage(void) { return max::capi::lastError().text; }
