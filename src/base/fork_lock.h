// SPDX-License-Identifier: Apache-2.0
// Locks that stay usable in the child after fork: fork waits until nobody holds one.
#pragma once

#include <mutex>

namespace max {

// One of a small fixed set of process-wide locks, chosen by the address of its object.
std::mutex& forkSafeMutex(const void* object);

}  // namespace max
