// SPDX-License-Identifier: Apache-2.0
// Host memory with a limit.
#pragma once

#include "base/memory_account.h"
#include "device/memory.h"

namespace max {

Ref<Storage> allocateCpuMemory(size_t bytes, const AllocationOptions& options, const Ref<MemoryAccount>& account);

// Copies elements one by one; strides are in bytes.
void copyStridedOnHost(const StridedCopy& copy);
void fillOnHost(void* target, const FillPattern& pattern, size_t count);

}  // namespace max
