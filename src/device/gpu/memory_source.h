// SPDX-License-Identifier: Apache-2.0
// The driver as the source of memory and events for a device's allocators.
#pragma once

#include "device/gpu/allocator.h"
#include "device/gpu/driver.h"

namespace max::gpu {

// Memory of the device.
class DeviceMemory final : public BlockSource {
 public:
  explicit DeviceMemory(Ref<Context> context) : context_(std::move(context)) {}
  void* allocateBlock(size_t bytes) override;
  void freeBlock(void* block) noexcept override;

 private:
  Ref<Context> context_;
};

// Page-locked memory of the host.
class PinnedMemory final : public BlockSource {
 public:
  explicit PinnedMemory(Ref<Context> context) : context_(std::move(context)) {}
  void* allocateBlock(size_t bytes) override;
  void freeBlock(void* block) noexcept override;

 private:
  Ref<Context> context_;
};

class DriverEvents final : public EventSource {
 public:
  explicit DriverEvents(Ref<Context> context) : context_(std::move(context)) {}
  void* createEvent() override;
  void destroyEvent(void* event) noexcept override;
  void recordEvent(void* event, void* stream) override;
  bool isEventDone(void* event) override;
  void waitForEvent(void* event) override;
  void makeStreamWait(void* stream, void* event) override;
  bool isCaptured(void* stream) noexcept override;
  bool isUsable() const noexcept override { return context_->isUsable(); }
  void waitForDevice() noexcept override { context_->tryCall(context_->driver().deviceSynchronize); }

 private:
  Ref<Context> context_;
};

}  // namespace max::gpu
