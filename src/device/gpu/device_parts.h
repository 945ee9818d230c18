// SPDX-License-Identifier: Apache-2.0
// What an accelerator and its streams share.
#pragma once

#include "device/gpu/allocator.h"
#include "device/gpu/driver.h"
#include "device/gpu/in_flight.h"
#include "device/memory.h"

namespace max::gpu {

struct DeviceParts {
  DeviceParts(Ref<Context> ofDevice, const MaxDeviceOptions& options);

  Ref<Context> context;
  Ref<EventSource> events;
  Ref<CachingAllocator> memory;
  Ref<CachingAllocator> pinned;
  Ref<InFlight> inFlight;
};

MemoryInfo memoryOf(const Context& context);

}  // namespace max::gpu
