// SPDX-License-Identifier: Apache-2.0
// Messages for the program's log callbacks. Ask isLogged first, so that no unwanted text is built.
#pragma once

#include <string>

#include "base/error.h"
#include "max/log.h"

namespace max {

// Level outside an active call, and of sessions that set none.
inline constexpr MaxLogLevel kDefaultLogLevel = MAX_LOG_LEVEL_INFO;

// INVALID_ARGUMENT unless it is a named level.
void requireLogLevel(MaxLogLevel level);

// Whether a callback listens to messages of this level from the active call, or from a session of level `threshold`.
bool isLogged(MaxLogLevel level) noexcept;
bool isLogged(MaxLogLevel level, MaxLogLevel threshold) noexcept;
// Line breaks become spaces.
void sendLog(MaxLogLevel level, std::string message) noexcept;

template <class... Parts>
void logMessage(MaxLogLevel level, const Parts&... parts) {
  if (isLogged(level)) sendLog(level, concat(parts...));
}

MaxLogToken addLogCallback(MaxLogCallback callback, void* userData, MaxLogLevel level);
// Waits until the callback is no longer running, unless called from a callback. NOT_FOUND for other tokens.
void removeLogCallback(MaxLogToken token);

}  // namespace max
