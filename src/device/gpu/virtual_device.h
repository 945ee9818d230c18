// SPDX-License-Identifier: Apache-2.0
// A declared accelerator that does not exist: it has a name and an architecture, but runs nothing.
#pragma once

#include <string>

#include "device/device.h"
#include "device/stream.h"

namespace max::gpu {

class VirtualDevice;

class VirtualStream final : public MaxStream {
 public:
  explicit VirtualStream(VirtualDevice& device);

  void check() override {}
  void requireWaitable() override {}
  void waitUntilIdle() override {}
  void synchronize() override {}
  void* native() override { refuse(); }
  void copy(MemoryRange, MemoryRange, size_t, MaxCopyKind) override { refuse(); }
  void copyStrided(const StridedCopy&) override { refuse(); }
  void fill(MemoryRange, const FillPattern&, size_t) override { refuse(); }
  void enqueue(std::unique_ptr<StreamTask>) override { refuse(); }
  void record(MaxEvent&) override { refuse(); }
  void wait(MaxEvent&) override { refuse(); }
  StreamWork* work() const override { return nullptr; }

 protected:
  void awaitWork(StreamWork&, uint64_t) override { refuse(); }

 private:
  [[noreturn]] void refuse() const;
};

class VirtualDevice final : public MaxDevice {
 public:
  VirtualDevice(const char* api, int32_t id, const std::string& architecture);

  const char* name() const override { return name_.c_str(); }
  const char* architectureName() const override { return architecture_.c_str(); }
  bool isCompatible() const override { return false; }
  bool isVirtual() const override { return true; }
  bool canAccess(const MaxDevice& peer) const override { return &peer == this; }
  void enablePeerAccess(const MaxDevice& peer) override;
  int64_t attribute(MaxDeviceAttribute) const override { refuse(); }
  int64_t driverVersion() const override { refuse(); }
  MemoryInfo memoryInfo() const override { refuse(); }
  MaxDeviceStats stats() const override { return MAX_DEVICE_STATS_INIT; }

  Ref<Storage> allocate(size_t, const AllocationOptions&, MaxStream&) override { refuse(); }
  void* allocateHost(size_t) override { refuse(); }
  void freeHost(void* pointer) override;
  void trim() override { kept().trim(Kept::Idle); }

  MaxStream& defaultStream() override { return defaultStream_; }
  Ref<MaxStream> createStream(int32_t) override { refuse(); }
  Ref<MaxStream> wrapStream(void*) override { refuse(); }
  Ref<MaxEvent> createEvent(bool) override { refuse(); }
  void synchronize() override {}

  // UNAVAILABLE: nothing runs here.
  [[noreturn]] void refuse() const;

 protected:
  void dispose() noexcept override;

 private:
  std::string architecture_;
  std::string name_;
  VirtualStream defaultStream_;
};

// The declared device with this id; the same object while a handle to it exists.
Ref<MaxDevice> openVirtualDevice(const char* api, int32_t id, const std::string& architecture);

}  // namespace max::gpu
