// SPDX-License-Identifier: Apache-2.0
#include "max/status.h"

#include <string>

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

}  // namespace

MaxStatus reportError(MaxStatus status, const char* message) noexcept {
  LastError& error = lastError();
  try {
    error.message = max::printable(message);
    error.text = error.message.c_str();
    if (std::string* text = max::extensionMessage()) *text = error.message;
  } catch (...) {
    error.text = "Out of memory while reporting an error";
  }
  return status;
}

MaxStatus reportOutOfMemory() noexcept {
  lastError().text = "Out of host memory";
  return MAX_STATUS_RESOURCE_EXHAUSTED;
}

}  // namespace max::capi

const char* maxStatusGetName(MaxStatus status) { return max::statusName(status); }
const char* maxGetLastErrorMessage(void) { return max::capi::lastError().text; }
