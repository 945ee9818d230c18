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

  // Keeps an object until the work that is now on these streams, by their bits, is done, without waiting for it.
  void keepUntilDone(const Ref<const RefCounted>& object, uint64_t streams) const noexcept;

  Ref<Context> context;
  Ref<EventSource> events;
  Ref<CachingAllocator> memory;
  Ref<CachingAllocator> pinned;
  Ref<InFlight> inFlight;
};

MemoryInfo memoryOf(const Context& context);

}  // namespace max::gpu
