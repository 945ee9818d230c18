// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/device_parts.h"

#include <utility>

#include "device/gpu/memory_source.h"

namespace max::gpu {

namespace {

constexpr size_t kPageSize = 4096;
// Drivers take device memory in pieces of this size, which they do not tell.
constexpr size_t kDriverGranule = size_t{2} << 20;

AllocatorOptions memoryOptions(const Context& context, const MaxDeviceOptions& options) {
  AllocatorOptions chosen;
  chosen.owner = concat("Out of memory on ", context.displayName());
  chosen.limit = options.memoryLimit != 0 ? options.memoryLimit : defaultMemoryLimit(memoryOf(context).free);
  chosen.granule = kDriverGranule;
  chosen.preallocated = options.bufferCacheSize;
  return chosen;
}

AllocatorOptions pinnedOptions(const Context& context) {
  AllocatorOptions chosen;
  chosen.owner = concat("Out of page-locked memory for ", context.displayName());
  chosen.granularity = kPageSize;
  chosen.hostAccess = true;
  return chosen;
}

}  // namespace

MemoryInfo memoryOf(const Context& context) {
  size_t free = 0, total = 0;
  context.call(context.driver().memoryGetInfo, &free, &total);
  return {free, total};
}

DeviceParts::DeviceParts(Ref<Context> ofDevice, const MaxDeviceOptions& options)
    : context(std::move(ofDevice)),
      events(makeRef<DriverEvents>(context)),
      memory(makeRef<CachingAllocator>(makeRef<DeviceMemory>(context), events, context->driver().streams,
                                       memoryOptions(*context, options))),
      pinned(makeRef<CachingAllocator>(makeRef<PinnedMemory>(context), events, context->driver().streams,
                                       pinnedOptions(*context))),
      inFlight(makeRef<InFlight>(events)) {}

// Without a mark it is unknown when the object is free, unless all work is done. The device waits for host functions,
// so a host function cannot wait for the device: the object is then leaked.
void DeviceParts::keepUntilDone(const Ref<const RefCounted>& object, uint64_t streams) const noexcept {
  if (streams == 0 || isCutOffByFork()) return;
  if (!context->isLost()) {  // it may only seem so
    try {
      std::vector<Ref<StreamMark>> marks;
      context->driver().streams->mark(streams, marks);
      return inFlight->keep(object, std::move(marks));
    } catch (const std::exception&) {  // then the work is finished
    }
  }
  if (isInHostFunction())
    object->retain();
  else
    context->tryCall(context->driver().deviceSynchronize);
}

}  // namespace max::gpu
