// SPDX-License-Identifier: Apache-2.0
// Kernels with a block for each row.
#pragma once

#include <cstdint>

namespace max {

// As in the source.
inline constexpr int32_t kRowThreads = 128;

// What joins the values of a block's threads. It needs `Sum` (types.h).
const char* rowSource();

}  // namespace max
