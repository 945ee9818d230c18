// SPDX-License-Identifier: Apache-2.0
// Memory of the tasks that wait in streams. One thread queues work and another one frees it, again and again: the
// memory goes back to the thread that took it, which asks nobody for it.
#pragma once

#include <cstddef>

namespace max {

void* takeTaskMemory(size_t bytes);
// From any thread.
void giveBackTaskMemory(void* memory) noexcept;

}  // namespace max
