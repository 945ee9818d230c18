// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "capi/guard.h"

using max::capi::guard;
using max::capi::requireArgument;

MaxStatus maxLogAddCallback(MaxLogCallback callback, void* userData, MaxLogLevel level, MaxLogToken* outToken) {
  return guard([&] {
    requireArgument(outToken, "outToken");
    *outToken = 0;
    requireArgument(reinterpret_cast<const void*>(callback), "callback");
    max::requireLogLevel(level);
    *outToken = max::addLogCallback(callback, userData, level);
  });
}

MaxStatus maxLogRemoveCallback(MaxLogToken token) {
  return guard([&] { max::removeLogCallback(token); });
}
