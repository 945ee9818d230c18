// SPDX-License-Identifier: Apache-2.0
// Files of code for accelerators, which a driver takes without their size.
#pragma once

#include <cstdint>
#include <string_view>

namespace max {

bool isElf(std::string_view code);
// A whole file for the machine: the tables, and what they name, lie inside.
bool isElfFor(std::string_view code, uint16_t machine);
// Whether `count` parts of `size` bytes from `offset` on lie in `total` bytes.
bool liesInside(uint64_t offset, uint64_t count, uint64_t size, uint64_t total);

}  // namespace max
