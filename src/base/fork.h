// SPDX-License-Identifier: Apache-2.0
// What a child process must know: threads of its parent are gone.
#pragma once

#include <cstdint>
#include <mutex>

namespace max {

// Differs between a process and its children. The first call makes later forks count.
uint32_t forkGeneration() noexcept;

// Guards process-wide tables. It is free in a child, whoever held it when the parent forked.
std::mutex& processMutex() noexcept;

}  // namespace max
