// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/pool_rows.h"

namespace max::readers {

bool fitsPoolRows(const Windows& windows) {
  constexpr int64_t kMostTaps = 4096, kMostStride = 8, kMostExtent = 4096;
  const Window& across = windows.axes.back();
  if (windows.taps() > kMostTaps || across.stride > kMostStride || across.extent() > kMostExtent) return false;
  return across.padBegin < across.extent();
}

}  // namespace max::readers
