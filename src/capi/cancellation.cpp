// SPDX-License-Identifier: Apache-2.0
#include "executor/cancellation.h"

#include "capi/guard.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

MaxStatus maxCancellationCreate(MaxCancellation** outCancellation) {
  return guard([&] {
    clearOutput(outCancellation, "outCancellation");
    *outCancellation = max::makeRef<MaxCancellation>().detach();
  });
}

void maxCancellationRetain(const MaxCancellation* cancellation) {
  if (cancellation) cancellation->retain();
}

void maxCancellationRelease(const MaxCancellation* cancellation) {
  if (cancellation) cancellation->release();
}

MaxStatus maxCancellationCancel(const MaxCancellation* cancellation) {
  return guard([&] {
    requireArgument(cancellation, "cancellation");
    cancellation->set(true);
  });
}

MaxStatus maxCancellationReset(const MaxCancellation* cancellation) {
  return guard([&] {
    requireArgument(cancellation, "cancellation");
    cancellation->set(false);
  });
}

MaxStatus maxCancellationIsCancelled(const MaxCancellation* cancellation, int32_t* outIsCancelled) {
  return guard([&] {
    requireArgument(cancellation, "cancellation");
    requireArgument(outIsCancelled, "outIsCancelled");
    *outIsCancelled = cancellation->isSet();
  });
}
