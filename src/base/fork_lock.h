// SPDX-License-Identifier: Apache-2.0
// Locks that stay usable in the child after fork: fork waits until none is held.
#pragma once

#include <mutex>

namespace max {

// One of a small fixed set of process-wide locks, chosen by the address of its object.
std::mutex& forkSafeMutex(const void* object);

}  // namespace max
