// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/align.h"

namespace max {

// The grain of a loop whose tasks take equally long. Lanes begin with as many chunks each: somewhat smaller ones may
// divide the tasks into more equal parts.
inline int64_t evenGrain(int64_t tasks, int64_t grain, int lanes) {
  constexpr int64_t kMostSmaller = 8;
  const auto largestPart = [&](int64_t some) { return some * ceilDiv(ceilDiv(tasks, some), lanes); };
  int64_t best = grain;
  for (int64_t some = grain - 1; some >= std::max(grain - kMostSmaller, (grain + 1) / 2); --some)
    if (largestPart(some) < largestPart(best)) best = some;
  return best;
}

}  // namespace max
