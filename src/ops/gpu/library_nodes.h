// SPDX-License-Identifier: Apache-2.0
// Which products are the library's of the device's vendor, as far as a node tells.
#pragma once

#include "graph/graph.h"

namespace max {

// Whether the node is a product that is likely to be one of the library's.
bool isForLibrary(const Node& node);

}  // namespace max
