// SPDX-License-Identifier: Apache-2.0
#include "max/status.h"

#include <string>
#include <string_view>

#include "base/printable.h"
#include "capi/guard.h"
#include "extension/extension.h"

namespace max::capi {

namespace {

// `text` points to `message`, or to a static string if there was no memory for one.
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

std::string shownLog(std::string_view log) {
  log = log.substr(0, kLongestLog);
  if (log.ends_with('\n')) log.remove_suffix(1);
  return log.empty() ? "" : '\n' + max::printableLines(log);
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
  return keepError(error.status(), [&] { return max::printable(error.summary()) + shownLog(error.log()); });
}

MaxStatus reportOutOfMemory() noexcept {
  lastError().text = "Out of host memory";
  return MAX_STATUS_RESOURCE_EXHAUSTED;
}

}  // namespace max::capi

const char* maxStatusGetName(MaxStatus status) { return max::statusName(status); }
const char* maxGetLastErrorMessage(void) { return max::capi::lastError().text; }
