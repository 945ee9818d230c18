// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/memory_source.h"

#include <cstdint>

namespace max::gpu {

namespace {

constexpr unsigned kPortable = 1;  // of all contexts
constexpr unsigned kWithoutTiming = 2;
// Of the NULL stream and of the one that each thread has; neither can be captured.
constexpr uintptr_t kLastSpecialStream = 2;

}  // namespace

void* DeviceMemory::allocateBlock(size_t bytes) {
  void* block = nullptr;
  const Symbol<int(void**, size_t)>& allocate = context_->driver().memoryAllocate;
  const int error = context_->query(allocate, &block, bytes);
  if (error == kOutOfMemory) return nullptr;
  if (error != kSuccess) context_->fail(allocate.name, error);
  return block;
}

void DeviceMemory::freeBlock(void* block) noexcept { context_->tryCallAlone(context_->driver().memoryFree, block); }

void* PinnedMemory::allocateBlock(size_t bytes) {
  void* block = nullptr;
  const Symbol<int(void**, size_t, unsigned)>& allocate = context_->driver().hostAllocate;
  const int error = context_->query(allocate, &block, bytes, kPortable);
  if (error == kOutOfMemory) return nullptr;
  if (error != kSuccess) context_->fail(allocate.name, error);
  return block;
}

void PinnedMemory::freeBlock(void* block) noexcept { context_->tryCallAlone(context_->driver().hostFree, block); }

void* DriverEvents::createEvent() {
  void* event = nullptr;
  context_->call(context_->driver().eventCreate, &event, kWithoutTiming);
  return event;
}

void DriverEvents::destroyEvent(void* event) noexcept { context_->tryCall(context_->driver().eventDestroy, event); }

void DriverEvents::recordEvent(void* event, void* stream) {
  context_->call(context_->driver().eventRecord, event, stream);
}

bool DriverEvents::isEventDone(void* event) {
  const Symbol<int(void*)>& query = context_->driver().eventQuery;
  const int error = context_->query(query, event);
  if (error != kSuccess && error != kNotReady) context_->fail(query.name, error);
  return error == kSuccess;
}

// A driver that cannot tell cannot capture either, or has lost the device.
bool DriverEvents::isCaptured(void* stream) noexcept {
  const Symbol<int(void*, int*)>& isCapturing = context_->driver().streamIsCapturing;
  if (!isCapturing || !isUsable() || reinterpret_cast<uintptr_t>(stream) <= kLastSpecialStream) return false;
  int status = 0;
  return context_->tryCall(isCapturing, stream, &status) == kSuccess && status != 0;
}

void DriverEvents::waitForEvent(void* event) { context_->call(context_->driver().eventSynchronize, event); }

void DriverEvents::makeStreamWait(void* stream, void* event) {
  context_->call(context_->driver().streamWaitEvent, stream, event, 0u);
}

}  // namespace max::gpu
