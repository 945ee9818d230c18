// SPDX-License-Identifier: Apache-2.0
// Memory of tasks waiting in streams. One thread queues work and another one frees it, over and over: the memory
// returns to the thread that allocated it, which reuses it without a lock.
#pragma once

#include <cstddef>

namespace max {

void* takeTaskMemory(size_t bytes);
// From any thread.
void giveBackTaskMemory(void* memory) noexcept;

}  // namespace max
