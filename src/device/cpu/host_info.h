// SPDX-License-Identifier: Apache-2.0
// Facts about the host from /proc, /sys and the C library.
#pragma once

#include <cstdint>
#include <string>

#include "device/memory.h"

namespace max {

// "AMD EPYC 9654", or the architecture if the model name is unknown.
std::string processorName();
// Free and total memory, within the limits of control groups.
MemoryInfo hostMemory();
// Resident bytes of this process; 0 = unknown.
uint64_t processMemory();
// In kilohertz; 0 = unknown.
int64_t processorClockRate();
int64_t usableProcessors();
int64_t lastLevelCacheSize();
// 1000 * major + 10 * minor of the operating system's kernel.
int64_t kernelVersion();

}  // namespace max
