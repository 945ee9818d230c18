// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_device.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/fork.h"
#include "device/cpu/cpu_event.h"
#include "device/cpu/host_info.h"

namespace max {

namespace {

// The one live host device, guarded by processMutex; its destructor clears the entry.
CpuDevice*& registeredDevice() {
  static CpuDevice* device = nullptr;
  return device;
}

struct AttributeRow {
  MaxDeviceAttribute attribute;
  int64_t (*value)();
};

template <int64_t value>
int64_t always() {
  return value;
}

// The limits of kernels are those of kernel/cpu_runtime.h.
constexpr AttributeRow kAttributes[] = {
    {MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, always<1024>},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, always<1024>},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, always<1024>},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, always<64>},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, always<2147483647>},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, always<65535>},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, always<65535>},
    {MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, always<48 * 1024>},
    {MAX_DEVICE_ATTRIBUTE_WARP_SIZE, always<32>},
    {MAX_DEVICE_ATTRIBUTE_CLOCK_RATE, processorClockRate},
    {MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, usableProcessors},
    {MAX_DEVICE_ATTRIBUTE_INTEGRATED, always<1>},
    {MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, lastLevelCacheSize},
};

void setField(MaxDeviceStats& stats, MaxDeviceStatsMask field, uint64_t MaxDeviceStats::*member, uint64_t value) {
  stats.*member = value;
  if (value != 0) stats.validMask |= field;
}

}  // namespace

CpuDevice::CpuDevice(uint64_t memoryLimit)
    : MaxDevice("cpu", "cpu", 0, true),
      account_(makeRef<MemoryAccount>("Out of memory on cpu:0", memoryLimit)),
      defaultStream_(*this) {}

CpuDevice::~CpuDevice() { delete name_.load(std::memory_order_relaxed); }

// Without a lock, which a forked child might find taken.
const char* CpuDevice::name() const {
  const std::string* known = name_.load(std::memory_order_acquire);
  if (known) return known->c_str();
  auto read = std::make_unique<const std::string>(processorName());
  if (!name_.compare_exchange_strong(known, read.get(), std::memory_order_acq_rel)) return known->c_str();
  return read.release()->c_str();
}

void CpuDevice::dispose() noexcept {
  {
    const std::lock_guard lock(processMutex());
    if (registeredDevice() == this) registeredDevice() = nullptr;
  }
  delete this;
}

const char* CpuDevice::architectureName() const {
  fail(MAX_STATUS_UNIMPLEMENTED, "Device cpu:0 has no architecture name; only accelerators have one");
}

void CpuDevice::enablePeerAccess(const MaxDevice& peer) {
  require(canAccess(peer), MAX_STATUS_UNIMPLEMENTED, "Device cpu:0 cannot access the memory of ", peer.displayName());
}

int64_t CpuDevice::attribute(MaxDeviceAttribute attribute) const {
  for (const AttributeRow& row : kAttributes)
    if (row.attribute == attribute) return row.value();
  fail(MAX_STATUS_UNIMPLEMENTED, "Device cpu:0 has no attribute ", attribute);
}

int64_t CpuDevice::driverVersion() const { return kernelVersion(); }
MemoryInfo CpuDevice::memoryInfo() const { return hostMemory(); }

MaxDeviceStats CpuDevice::stats() const {
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  const MemoryInfo memory = memoryInfo();
  setField(stats, MAX_DEVICE_STATS_FREE_MEMORY, &MaxDeviceStats::freeMemory, memory.free);
  setField(stats, MAX_DEVICE_STATS_TOTAL_MEMORY, &MaxDeviceStats::totalMemory, memory.total);
  setField(stats, MAX_DEVICE_STATS_MEMORY_LIMIT, &MaxDeviceStats::memoryLimit, account_->limit());
  setField(stats, MAX_DEVICE_STATS_PROCESS_MEMORY, &MaxDeviceStats::processMemory, processMemory());
  stats.allocatedMemory = account_->used();
  stats.peakAllocatedMemory = account_->peak();
  stats.validMask |= MAX_DEVICE_STATS_ALLOCATED_MEMORY | MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY;
  return stats;
}

Ref<Storage> CpuDevice::allocate(size_t bytes, const AllocationOptions& options, MaxStream&) {
  return allocateCpuMemory(bytes, options, account_);
}

void* CpuDevice::allocateHost(size_t bytes) {
  AllocationOptions options;
  options.pinned = true;
  Ref<Storage> block = allocateCpuMemory(bytes, options, account_);
  void* pointer = block->data();
  {
    const std::lock_guard lock(processMutex());
    hostBlocks_.emplace(pointer, std::move(block));
  }
  // Until freeHost the block counts as an object and holds the device.
  addLiveObjects(1);
  retain();
  return pointer;
}

void CpuDevice::freeHost(void* pointer) {
  if (!pointer) return;
  {
    const std::lock_guard lock(processMutex());
    require(hostBlocks_.erase(pointer) == 1, MAX_STATUS_INVALID_ARGUMENT,
            "Pointer is not a host allocation of device cpu:0");
  }
  addLiveObjects(-1);
  release();
}

// Released buffers return to the C library; only models keep memory.
void CpuDevice::trim() { kept().trim(Kept::Idle); }

Ref<MaxStream> CpuDevice::createStream(int32_t) {
  return makeRef<CpuQueueStream>(*this, makeRef<CpuQueue>(Ref<CpuDevice>(this)));
}

Ref<MaxStream> CpuDevice::wrapStream(void*) {
  fail(MAX_STATUS_UNIMPLEMENTED, "Device cpu:0 has no driver streams to wrap");
}

Ref<MaxEvent> CpuDevice::createEvent(bool timing) { return makeRef<CpuEvent>(Ref<MaxDevice>(this), timing); }

void CpuDevice::synchronize() {
  std::vector<Ref<CpuQueue>> queues;
  {
    const std::lock_guard lock(processMutex());
    std::erase_if(queues_, [](const CpuQueue* queue) { return queue->isCutOff(); });
    for (CpuQueue* queue : queues_) queues.emplace_back(queue);
  }
  for (const Ref<CpuQueue>& queue : queues) queue->waitUntilIdle();
  for (const Ref<CpuQueue>& queue : queues) queue->throwFailureOnce();
}

void CpuDevice::addQueue(CpuQueue& queue) {
  const std::lock_guard lock(processMutex());
  queues_.push_back(&queue);
}

void CpuDevice::removeQueue(CpuQueue& queue) noexcept {
  const std::lock_guard lock(processMutex());
  std::erase(queues_, &queue);
}

Ref<MaxDevice> openCpuDevice(const MaxDeviceOptions& options) {
  const std::lock_guard lock(processMutex());
  CpuDevice*& device = registeredDevice();
  if (device && device->tryRetain()) return Ref<MaxDevice>::adopt(device);
  Ref<CpuDevice> made = makeRef<CpuDevice>(options.memoryLimit);
  device = made.get();
  return made;
}

}  // namespace max
