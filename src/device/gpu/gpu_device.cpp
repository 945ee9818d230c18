// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_device.h"

#include <algorithm>
#include <cstring>

#include "base/active_call.h"
#include "device/gpu/attributes.h"
#include "device/gpu/gpu_event.h"
#include "device/gpu/gpu_graph.h"
#include "device/gpu/stats.h"

namespace max::gpu {

namespace {

constexpr size_t kHostAlignment = 4096;
// In all APIs a name for another stream in each thread.
constexpr uintptr_t kPerThreadStream = 2;

}  // namespace

GpuDevice::GpuDevice(const Ref<Context>& context, const MaxDeviceOptions& options)
    : MaxDevice(context->api().name, "gpu", context->ordinal(), false),
      name_(deviceName(context->driver(), context->device())),
      architecture_(architectureOf(context->driver(), context->device())),
      busId_(busIdOf(context->driver(), context->device())),
      parts_(context, options),
      defaultStream_(*this, parts_, newHostQueue(), true, 0) {}

GpuDevice::~GpuDevice() = default;

bool GpuDevice::isCompatible() const { return gpu::isCompatible(context().driver(), context().device()); }

bool GpuDevice::canAccess(const MaxDevice& peer) const {
  if (&peer == this) return true;
  const auto* other = dynamic_cast<const GpuDevice*>(&peer);
  if (!other || &other->context().api() != &context().api()) return false;
  int can = 0;
  context().call(context().driver().deviceCanAccessPeer, &can, context().device(), other->context().device());
  return can != 0;
}

void GpuDevice::enablePeerAccess(const MaxDevice& peer) {
  require(canAccess(peer), MAX_STATUS_UNIMPLEMENTED, "Device ", context().displayName(),
          " cannot access the memory of ", peer.displayName());
  if (&peer == this) return;
  const Driver& driver = context().driver();
  const Context& other = static_cast<const GpuDevice&>(peer).context();
  const bool byContext = static_cast<bool>(driver.contextEnablePeer);
  const int error = byContext ? context().query(driver.contextEnablePeer, other.handle(), 0u)
                              : context().query(driver.deviceEnablePeer, other.device(), 0u);
  if (error != kSuccess && error != kPeerAccessAlreadyEnabled)
    context().fail(byContext ? driver.contextEnablePeer.name : driver.deviceEnablePeer.name, error);
}

int64_t GpuDevice::attribute(MaxDeviceAttribute attribute) const {
  context().check();
  return attributeOf(context().driver(), context().device(), attribute);
}

MemoryInfo GpuDevice::memoryInfo() const { return memoryOf(context()); }

MaxDeviceStats GpuDevice::stats() const {
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  const MemoryInfo info = memoryInfo();
  const AllocatorStats memory = parts_.memory->stats();
  stats.freeMemory = info.free;
  stats.totalMemory = info.total;
  stats.allocatedMemory = memory.live;
  stats.peakAllocatedMemory = memory.peakLive;
  stats.memoryLimit = memory.limit;
  stats.validMask = MAX_DEVICE_STATS_FREE_MEMORY | MAX_DEVICE_STATS_TOTAL_MEMORY | MAX_DEVICE_STATS_ALLOCATED_MEMORY |
                    MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY | MAX_DEVICE_STATS_MEMORY_LIMIT;
  addTelemetry(context().api(), busId_, stats);
  return stats;
}

Ref<Storage> GpuDevice::allocate(size_t bytes, const AllocationOptions& options, MaxStream& stream) {
  context().check();
  if (options.pinned) {
    Ref<Storage> block = parts_.pinned->allocate(bytes, options.alignment, nullptr);
    if (options.zeroed && bytes > 0) std::memset(block->data(), 0, bytes);
    return block;
  }
  auto& own = static_cast<GpuStream&>(stream);
  Ref<Storage> block = memory().allocate(bytes, options.alignment, &own.ordered());
  if (options.zeroed) own.fill({block->data(), block}, FillPattern(), bytes);
  return block;
}

void* GpuDevice::allocateHost(size_t bytes) {
  context().check();
  Ref<Storage> block = parts_.pinned->allocate(std::max<size_t>(bytes, 1), kHostAlignment, nullptr);
  void* pointer = block->data();
  {
    const std::lock_guard lock(mutex_);
    hostBlocks_.emplace(pointer, std::move(block));
  }
  // Until freeHost the block counts as an object and holds the device.
  addLiveObjects(1);
  retain();
  return pointer;
}

void GpuDevice::freeHost(void* pointer) {
  if (!pointer) return;
  {
    const std::lock_guard lock(mutex_);
    require(hostBlocks_.erase(pointer) == 1, MAX_STATUS_INVALID_ARGUMENT, "Pointer is not a host allocation of device ",
            context().displayName());
  }
  addLiveObjects(-1);
  release();
}

void GpuDevice::trim() {
  context().check();
  requireOutsideHostFunctions();
  kept().trim(Kept::Idle);
  parts_.inFlight->collect();
  memory().trim();
  parts_.pinned->trim();
}

Ref<MaxStream> GpuDevice::createStream(int32_t priority) {
  return makeRef<GpuStream>(*this, parts_, newHostQueue(), false, priority);
}

// A stream of another device would run our work on that device.
void GpuDevice::requireOwnStream(void* native) const {
  const Driver& driver = context().driver();
  bool isOwn = true;
  if (driver.streamGetContext) {
    void* owner = nullptr;
    context().call(driver.streamGetContext, native, &owner);
    isOwn = owner == context().handle();
  } else if (driver.streamGetDevice) {
    int device = -1;
    context().call(driver.streamGetDevice, native, &device);
    isOwn = device == context().device();
  }
  require(isOwn, MAX_STATUS_INVALID_ARGUMENT, "The driver's stream does not belong to ", context().displayName());
}

Ref<MaxStream> GpuDevice::wrapStream(void* native) {
  require(reinterpret_cast<uintptr_t>(native) != kPerThreadStream, MAX_STATUS_INVALID_ARGUMENT,
          "The driver's per-thread default stream differs in each thread; wrap a created stream");
  requireOwnStream(native);
  return makeRef<GpuStream>(*this, parts_, newHostQueue(), native);
}

Ref<MaxEvent> GpuDevice::createEvent(bool timing) {
  return makeRef<GpuEvent>(Ref<MaxDevice>(this), parts_.context, timing);
}

// The compiler and the driver are called without the lock: two threads may make one each.
Ref<StridedKernel> GpuDevice::stridedKernel() {
  {
    const std::lock_guard lock(mutex_);
    if (isKernelMade_) return stridedKernel_;
  }
  const bool canMake = &makeStridedKernel != nullptr;
  Ref<StridedKernel> made = canMake ? makeStridedKernel(*this) : nullptr;
  const std::lock_guard lock(mutex_);
  if (!isKernelMade_) std::swap(stridedKernel_, made);
  isKernelMade_ = true;
  return stridedKernel_;
}

// The library is opened without the lock: two threads may open it at once.
Ref<DeviceProduct> GpuDevice::product(const DeviceProductShape& shape) {
  Ref<Products> products;
  {
    const std::lock_guard lock(mutex_);
    products = products_;
  }
  if (!products) {
    products = openProducts(parts_.context);
    const std::lock_guard lock(mutex_);
    if (!products_) products_ = products;
  }
  return products->make(shape);
}

// By a product of its own. What fails here fails, or does not, where a product is wanted.
void GpuDevice::loadProducts(DType factors, MaxPrecision precision) {
  {
    const std::lock_guard lock(mutex_);
    if (!loadedProducts_.insert({factors, precision}).second) return;
  }
  constexpr int64_t kSide = 512;
  const size_t bytes = static_cast<size_t>(kSide * kSide) * sizeOf(factors);
  try {
    const Ref<DeviceProduct> one =
        product({factors, factors, precision, 1, kSide, kSide, kSide, false, false, kSide, kSide});
    if (!one) return;
    const Ref<MaxStream> stream = createStream(0);
    const Ref<Storage> memory = allocate(3 * bytes + one->workspaceBytes(), {}, *stream);
    auto* matrices = static_cast<std::byte*>(memory->data());
    one->launch(*stream, {matrices, matrices + bytes, nullptr, nullptr, matrices + 2 * bytes, matrices + 3 * bytes});
    stream->synchronize();
  } catch (const Error& error) {
    if (error.status() != MAX_STATUS_INTERNAL && error.status() != MAX_STATUS_RESOURCE_EXHAUSTED) throw;
  }
}

Ref<HostQueue> GpuDevice::newHostQueue() {
  Ref<HostQueue> queue = makeRef<HostQueue>(context().gated());
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

// The driver itself waits without a limit.
void GpuDevice::awaitStreams() {
  const ActiveCall* call = activeCall();
  if (!call || !call->interrupt) return;
  std::vector<Ref<StreamMark>> marks;
  context().driver().streams->mark(~uint64_t{0}, marks);
  for (const Ref<StreamMark>& mark : marks)
    if (mark->isOf(*parts_.events)) pollUntilDone(*call->interrupt, [&] { return mark->isDone(); });
}

void GpuDevice::synchronize() {
  requireOutsideHostFunctions();
  require(!context().driver().streams->hasCaptured(*parts_.events), MAX_STATUS_FAILED_PRECONDITION, "Device ",
          context().displayName(), " has a stream that is being captured and cannot be waited for");
  const std::vector<Ref<HostQueue>> queues = hostQueues();
  try {
    awaitStreams();
    context().call(context().driver().deviceSynchronize);
  } catch (...) {
    if (context().isLost())
      for (const Ref<HostQueue>& queue : queues) queue->abandon();
    throw;
  }
  parts_.inFlight->collect();
  for (const Ref<HostQueue>& queue : queues) queue->throwFailureOnce();
}

Ref<WorkGraph> GpuDevice::record(FunctionRef<void(MaxStream&)> queue) {
  const Ref<MaxStream> stream = createStream(0);
  return makeRef<GpuGraph>(parts_, static_cast<GpuStream&>(*stream), queue);
}

void GpuDevice::destroy(void* pointer) noexcept {
  auto* device = static_cast<GpuDevice*>(pointer);
  // The driver's objects belong to the parent process, and locks may stay held.
  if (isCutOffByFork()) return addLiveObjects(-1);
  const Ref<Context> context = device->sharedContext();
  context->tryCall(context->driver().deviceSynchronize);
  if (context->isLost())
    for (const Ref<HostQueue>& queue : device->hostQueues_) queue->abandon();
  device->parts_.inFlight->clear();
  const Ref<EventSource> events = device->parts_.events;
  delete device;
  context->driver().streams->finish(*events);
}

}  // namespace max::gpu
