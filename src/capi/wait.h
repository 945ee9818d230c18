// SPDX-License-Identifier: Apache-2.0
// Waits with a limit.
#pragma once

#include <utility>

#include "base/active_call.h"
#include "base/error.h"

namespace max::capi {

// Runs a waiting call; throws DEADLINE_EXCEEDED when the time is up (0 = no limit).
template <class Wait>
void waitAtMost(int64_t timeoutNs, Wait&& wait) {
  require(timeoutNs >= 0, MAX_STATUS_INVALID_ARGUMENT, "timeoutNs is ", timeoutNs, "; it must be 0 (no limit) or more");
  if (timeoutNs == 0) return wait();
  const Interrupt interrupt(nullptr, timeoutNs);
  ActiveCall call;
  call.interrupt = &interrupt;
  const ActiveCallScope scope(&call);
  wait();
}

}  // namespace max::capi
