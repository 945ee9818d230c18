// SPDX-License-Identifier: Apache-2.0
// Messages for the program's log functions. Whoever logs asks isLogged first, so that no text is made for nobody.
#pragma once

#include <string>

#include "base/error.h"
#include "max/log.h"

namespace max {

// Of loads and calls outside of an active call, and of sessions that set none.
inline constexpr MaxLogLevel kDefaultLogLevel = MAX_LOG_LEVEL_INFO;

// INVALID_ARGUMENT unless it is one of the named levels.
void requireLogLevel(MaxLogLevel level);

// Whether anybody listens to messages of this level from the active call, or from a session of level `threshold`.
bool isLogged(MaxLogLevel level) noexcept;
bool isLogged(MaxLogLevel level, MaxLogLevel threshold) noexcept;
// Line breaks become spaces.
void sendLog(MaxLogLevel level, std::string message) noexcept;

template <class... Parts>
void logMessage(MaxLogLevel level, const Parts&... parts) {
  if (isLogged(level)) sendLog(level, concat(parts...));
}

MaxLogToken addLogCallback(MaxLogCallback callback, void* userData, MaxLogLevel level);
// Waits until the function is not running any more, except from within such a function. NOT_FOUND for other tokens.
void removeLogCallback(MaxLogToken token);

}  // namespace max
