// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_device.h"

#include <algorithm>
#include <cstring>

#include "base/active_call.h"
#include "device/gpu/attributes.h"
#include "device/gpu/gpu_event.h"
#include "device/gpu/memory_source.h"
#include "device/gpu/stats.h"

namespace max::gpu {

namespace {

constexpr size_t kPageSize = 4096;
// CU_STREAM_PER_THREAD, hipStreamPerThread: a name for another stream in each thread.
constexpr uintptr_t kPerThreadStream = 2;

MemoryInfo memoryOf(const Context& context) {
  size_t free = 0, total = 0;
  context.call(context.driver().memoryGetInfo, &free, &total);
  return {free, total};
}

AllocatorOptions memoryOptions(const Context& context, const MaxDeviceOptions& options) {
  AllocatorOptions chosen;
  chosen.owner = concat("Out of memory on ", context.displayName());
  chosen.limit = options.memoryLimit != 0 ? options.memoryLimit : defaultMemoryLimit(memoryOf(context).free);
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

GpuDevice::GpuDevice(Ref<Context> context, const MaxDeviceOptions& options)
    : MaxDevice(nameOf(context->api()), "gpu", context->ordinal(), false),
      context_(std::move(context)),
      name_(deviceName(context_->driver(), context_->device())),
      architecture_(architectureOf(context_->driver(), context_->device())),
      busId_(busIdOf(context_->driver(), context_->device())),
      events_(makeRef<DriverEvents>(context_)),
      memory_(makeRef<CachingAllocator>(makeRef<DeviceMemory>(context_), events_, streamTableOf(context_->api()),
                                        memoryOptions(*context_, options))),
      pinned_(makeRef<CachingAllocator>(makeRef<PinnedMemory>(context_), events_, streamTableOf(context_->api()),
                                        pinnedOptions(*context_))),
      markEvents_(makeRef<EventPool>(events_)),
      inFlight_(makeRef<InFlight>(markEvents_)),
      defaultStream_(*this, true, 0) {}

GpuDevice::~GpuDevice() = default;

bool GpuDevice::isCompatible() const { return gpu::isCompatible(context_->driver(), context_->device()); }

bool GpuDevice::canAccess(const MaxDevice& peer) const {
  if (&peer == this) return true;
  const auto* other = dynamic_cast<const GpuDevice*>(&peer);
  if (!other || other->context().api() != context_->api()) return false;
  int can = 0;
  context_->call(context_->driver().deviceCanAccessPeer, &can, context_->device(), other->context().device());
  return can != 0;
}

void GpuDevice::enablePeerAccess(const MaxDevice& peer) {
  require(canAccess(peer), MAX_STATUS_UNIMPLEMENTED, "Device ", context_->displayName(),
          " cannot access the memory of ", peer.displayName());
  if (&peer == this) return;
  const Driver& driver = context_->driver();
  const Context& other = static_cast<const GpuDevice&>(peer).context();
  const bool isCuda = driver.api == Api::Cuda;
  const int error = isCuda ? context_->query(driver.cudaEnablePeerAccess, other.handle(), 0u)
                           : context_->query(driver.hipEnablePeerAccess, other.device(), 0u);
  if (error != kSuccess && error != kPeerAccessAlreadyEnabled)
    context_->fail(isCuda ? driver.cudaEnablePeerAccess.name : driver.hipEnablePeerAccess.name, error);
}

int64_t GpuDevice::attribute(MaxDeviceAttribute attribute) const {
  context_->check();
  return attributeOf(context_->driver(), context_->device(), attribute);
}

MemoryInfo GpuDevice::memoryInfo() const { return memoryOf(*context_); }

MaxDeviceStats GpuDevice::stats() const {
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  const MemoryInfo info = memoryInfo();
  const AllocatorStats memory = memory_->stats();
  stats.freeMemory = info.free;
  stats.totalMemory = info.total;
  stats.allocatedMemory = memory.live;
  stats.peakAllocatedMemory = memory.peakLive;
  stats.memoryLimit = memory.limit;
  stats.validMask = MAX_DEVICE_STATS_FREE_MEMORY | MAX_DEVICE_STATS_TOTAL_MEMORY | MAX_DEVICE_STATS_ALLOCATED_MEMORY |
                    MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY | MAX_DEVICE_STATS_MEMORY_LIMIT;
  addTelemetry(context_->api(), busId_, stats);
  return stats;
}

Ref<Storage> GpuDevice::allocate(size_t bytes, const AllocationOptions& options, MaxStream& stream) {
  context_->check();
  if (options.pinned) {
    Ref<Storage> block = pinned_->allocate(bytes, options.alignment, nullptr);
    if (options.zeroed && bytes > 0) std::memset(block->data(), 0, bytes);
    return block;
  }
  auto& own = static_cast<GpuStream&>(stream);
  Ref<Storage> block = memory_->allocate(bytes, options.alignment, &own.ordered());
  if (options.zeroed) own.fill({block->data(), block}, FillPattern(), bytes);
  return block;
}

void* GpuDevice::allocateHost(size_t bytes) {
  context_->check();
  Ref<Storage> block = pinned_->allocate(std::max<size_t>(bytes, 1), kPageSize, nullptr);
  void* pointer = block->data();
  {
    const std::lock_guard lock(mutex_);
    hostBlocks_.emplace(pointer, std::move(block));
  }
  // Until freeHost the block counts as an object and keeps the device.
  addLiveObjects(1);
  retain();
  return pointer;
}

void GpuDevice::freeHost(void* pointer) {
  if (!pointer) return;
  {
    const std::lock_guard lock(mutex_);
    require(hostBlocks_.erase(pointer) == 1, MAX_STATUS_INVALID_ARGUMENT, "Pointer is not a host allocation of device ",
            context_->displayName());
  }
  addLiveObjects(-1);
  release();
}

void GpuDevice::trim() {
  context_->check();
  requireOutsideHostFunctions();
  kept().trim(Kept::Idle);
  inFlight_->collect();
  memory_->trim();
  pinned_->trim();
}

Ref<MaxStream> GpuDevice::createStream(int32_t priority) { return makeRef<GpuStream>(*this, false, priority); }

// A stream of another device would run our work there.
void GpuDevice::requireOwnStream(void* native) const {
  const Driver& driver = context_->driver();
  bool isOwn = true;
  if (driver.cudaStreamGetContext) {
    void* context = nullptr;
    context_->call(driver.cudaStreamGetContext, native, &context);
    isOwn = context == context_->handle();
  } else if (driver.hipStreamGetDevice) {
    int device = -1;
    context_->call(driver.hipStreamGetDevice, native, &device);
    isOwn = device == context_->device();
  }
  require(isOwn, MAX_STATUS_INVALID_ARGUMENT, "The driver's stream does not belong to ", context_->displayName());
}

Ref<MaxStream> GpuDevice::wrapStream(void* native) {
  require(reinterpret_cast<uintptr_t>(native) != kPerThreadStream, MAX_STATUS_INVALID_ARGUMENT,
          "The driver's per-thread default stream is another one in each thread; wrap a created stream");
  requireOwnStream(native);
  return makeRef<GpuStream>(*this, native);
}

Ref<MaxEvent> GpuDevice::createEvent(bool timing) { return makeRef<GpuEvent>(Ref<MaxDevice>(this), context_, timing); }

Ref<HostQueue> GpuDevice::newHostQueue() {
  Ref<HostQueue> queue = makeRef<HostQueue>();
  const std::lock_guard lock(mutex_);
  std::erase_if(hostQueues_, [](const Ref<HostQueue>& old) { return old->isUnique() && old->isEmpty(); });
  hostQueues_.push_back(queue);
  return queue;
}

std::vector<Ref<HostQueue>> GpuDevice::hostQueues() {
  const std::lock_guard lock(mutex_);
  return hostQueues_;
}

void GpuDevice::requireOutsideHostFunctions() {
  require(std::ranges::none_of(hostQueues(), [](const Ref<HostQueue>& queue) { return queue->isRunningHere(); }),
          MAX_STATUS_FAILED_PRECONDITION, "A host function cannot wait for the device that it runs on");
}

// The driver itself waits without end.
void GpuDevice::awaitStreams() {
  const ActiveCall* call = activeCall();
  if (!call || !call->interrupt) return;
  std::vector<Ref<StreamMark>> marks;
  streamTableOf(context_->api())->mark(~uint64_t{0}, marks);
  for (const Ref<StreamMark>& mark : marks)
    if (mark->isOf(*events_)) pollUntilDone(*call->interrupt, [&] { return mark->isDone(); });
}

void GpuDevice::synchronize() {
  requireOutsideHostFunctions();
  const std::vector<Ref<HostQueue>> queues = hostQueues();
  try {
    awaitStreams();
    context_->call(context_->driver().deviceSynchronize);
  } catch (...) {
    if (context_->isLost())
      for (const Ref<HostQueue>& queue : queues) queue->abandon();
    throw;
  }
  inFlight_->collect();
  for (const Ref<HostQueue>& queue : queues) queue->throwFailureOnce();
}

void GpuDevice::destroy(void* pointer) noexcept {
  auto* device = static_cast<GpuDevice*>(pointer);
  // What the driver knows of belongs to the parent process, and locks may be held for ever.
  if (isCutOffByFork()) return addLiveObjects(-1);
  const Ref<Context> context = device->context_;
  context->tryCall(context->driver().deviceSynchronize);
  if (context->isLost())
    for (const Ref<HostQueue>& queue : device->hostQueues_) queue->abandon();
  device->inFlight_->clear();
  const Ref<EventSource> events = device->events_;
  delete device;
  streamTableOf(context->api())->finish(*events);
}

}  // namespace max::gpu
