// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "capi/guard.h"

MaxStatus maxLogSetCallback(MaxLogCallback callback, void* userData) {
  return max::capi::guard([&] { max::setLogCallback(callback, userData); });
}
