// SPDX-License-Identifier: Apache-2.0
#include "max/experimental.h"

#include "base/ref.h"
#include "capi/guard.h"

MaxStatus maxExperimentalGetLiveObjectCount(int64_t* outCount) {
  return max::capi::guard([&] {
    max::capi::requireArgument(outCount, "outCount");
    *outCount = max::liveObjectCount();
  });
}
