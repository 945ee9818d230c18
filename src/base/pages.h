// SPDX-License-Identifier: Apache-2.0
// Pages before their first use: one request for many, in place of a fault for each. A hint, from Linux 5.14 on; memory
// that does not get them has the faults.
#pragma once

#include <cstddef>

namespace max {

// Reads the pages of a mapped file.
void populateForReading(const void* data, size_t bytes) noexcept;

// Gives pages to memory that nobody uses meanwhile, on so many lanes.
void populateForWriting(void* data, size_t bytes, int lanes);

// On this thread, unless faults of so few bytes take no longer.
void populateForWriting(void* data, size_t bytes) noexcept;

}  // namespace max
