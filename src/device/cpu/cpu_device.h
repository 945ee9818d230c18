// SPDX-License-Identifier: Apache-2.0
// The host as a device.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "device/cpu/cpu_memory.h"
#include "device/cpu/cpu_stream.h"
#include "device/device.h"

namespace max {

class CpuDevice final : public MaxDevice {
 public:
  explicit CpuDevice(uint64_t memoryLimit);
  ~CpuDevice() override;

  const char* name() const override;
  const char* architectureName() const override;
  bool isCompatible() const override { return true; }
  bool canAccess(const MaxDevice& peer) const override { return peer.isHost(); }
  void enablePeerAccess(const MaxDevice& peer) override;
  int64_t attribute(MaxDeviceAttribute attribute) const override;
  int64_t driverVersion() const override;
  MemoryInfo memoryInfo() const override;
  MaxDeviceStats stats() const override;

  Ref<Storage> allocate(size_t bytes, const AllocationOptions& options, MaxStream& stream) override;
  void* allocateHost(size_t bytes) override;
  void freeHost(void* pointer) override;
  void trim() override;

  MaxStream& defaultStream() override { return defaultStream_; }
  Ref<MaxStream> createStream(int32_t priority) override;
  Ref<MaxStream> wrapStream(void* native) override;
  Ref<MaxEvent> createEvent(bool timing) override;
  void synchronize() override;

  // Queues with a worker are listed here until the worker ends.
  void addQueue(CpuQueue& queue);
  void removeQueue(CpuQueue& queue) noexcept;

 protected:
  void dispose() noexcept override;

 private:
  mutable std::atomic<const std::string*> name_{nullptr};  // read from the system when it is asked for
  Ref<MemoryAccount> account_;
  CpuInlineStream defaultStream_;
  // Both guarded by processMutex.
  std::vector<CpuQueue*> queues_;
  std::map<void*, Ref<Storage>> hostBlocks_;
};

Ref<MaxDevice> openCpuDevice(const MaxDeviceOptions& options);

}  // namespace max
