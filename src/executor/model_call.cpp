// SPDX-License-Identifier: Apache-2.0
#include "executor/model_call.h"

namespace max {

Interrupt interruptOf(const CallOptions& options) {
  require(options.timeoutNs >= 0, MAX_STATUS_INVALID_ARGUMENT, "timeoutNs is ", options.timeoutNs,
          "; it must be at least 0");
  return Interrupt(options.cancellation ? &options.cancellation->flag() : nullptr, options.timeoutNs);
}

void waitFor(MaxStream& stream, const Interrupt& interrupt) {
  ActiveCall call;
  if (!interrupt.isEmpty()) call.interrupt = &interrupt;
  const ActiveCallScope scope(&call);
  stream.waitUntilIdle();
}

}  // namespace max
