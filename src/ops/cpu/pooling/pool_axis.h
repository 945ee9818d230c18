// SPDX-License-Identifier: Apache-2.0
// One spatial axis of a pool: where its windows lie.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/align.h"
#include "graph/readers/windows.h"
#include "ops/op_kernel.h"

namespace max {

struct PoolAxis {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;

  // The taps of the window at `position` that are in [low, high) of the input.
  int64_t firstTap(int64_t position, int64_t low) const {
    const int64_t missing = low - start(position);
    return missing > 0 ? ceilDiv(missing, dilation) : 0;
  }
  int64_t tapsWithin(int64_t position, int64_t low, int64_t high) const {
    const int64_t room = high - start(position);
    const int64_t end = room > 0 ? std::min(kernel, ceilDiv(room, dilation)) : 0;
    return std::max<int64_t>(0, end - firstTap(position, low));
  }
  int64_t start(int64_t position) const { return position * stride - padBegin; }
  int64_t seen(int64_t position) const { return tapsWithin(position, 0, input); }
  int64_t seenWithPads(int64_t position) const { return tapsWithin(position, -padBegin, input + padEnd); }
  // The positions before this one have all taps inside, from the first on that does not begin in the padding.
  int64_t insideEnd() const {
    const int64_t room = input - 1 - (kernel - 1) * dilation + padBegin;
    return room < 0 ? 0 : std::min(output, quotient(room, stride) + 1);
  }
};

readers::Pool poolOf(const OpRequest& request);
// The spatial axes of an image whose first one is `first`; missing ones come before, as axes of size 1.
void readPoolAxes(const OpRequest& request, const readers::Pool& pool, int first, PoolAxis (&axes)[3]);

}  // namespace max
