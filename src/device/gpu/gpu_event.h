// SPDX-License-Identifier: Apache-2.0
// Events of accelerators.
#pragma once

#include <atomic>
#include <mutex>

#include "device/event.h"
#include "device/gpu/driver.h"

namespace max::gpu {

// A driver event, used for one mark after another.
class NativeEvent final : public RefCounted {
 public:
  NativeEvent(Ref<Context> context, bool timing);
  ~NativeEvent() override;

  void* handle() const { return handle_; }
  // Its mark is in a stream that was captured: it says nothing of when work is done.
  bool isCaptured() const { return captured_.load(std::memory_order_relaxed); }
  void record(void* stream, bool isCaptured);
  bool isReady() const;
  void synchronize() const;

 private:
  void requireUncaptured() const;

  Ref<Context> context_;
  void* handle_ = nullptr;
  std::atomic<bool> captured_{false};
};

class GpuEvent final : public MaxEvent {
 public:
  GpuEvent(Ref<MaxDevice> device, Ref<Context> context, bool timing);

  void synchronize() const override;
  bool isReady() const override;
  int64_t elapsedSince(const MaxEvent& start) const override;
  std::unique_ptr<StreamTask> waitTask() const override;

  // The newest mark. While it is held, later marks use other events.
  Ref<NativeEvent> mark() const;
  // On a stream of the same device.
  void record(void* stream, bool isCaptured);

 private:
  void requireTime(const char* which) const;

  Ref<Context> context_;
  mutable std::mutex mutex_;
  Ref<NativeEvent> native_;  // guarded by the mutex
  std::atomic<bool> wasRecorded_{false};
};

}  // namespace max::gpu
