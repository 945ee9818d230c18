// SPDX-License-Identifier: Apache-2.0
// Support for child processes, in which the parent's threads do not exist.
#pragma once

#include <cstdint>
#include <mutex>

namespace max {

// Differs between a process and its children. Forks count from the first call on.
uint32_t forkGeneration() noexcept;

// Guards process-wide tables. It is free in a child, even if a thread of the parent held it.
std::mutex& processMutex() noexcept;

}  // namespace max
