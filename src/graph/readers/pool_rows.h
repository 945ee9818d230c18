// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/readers/windows.h"

namespace max::readers {

// Whether windows are small enough for a pool that keeps rows of planes with their borders in a near cache.
bool fitsPoolRows(const Windows& windows);

}  // namespace max::readers
