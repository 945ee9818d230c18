// SPDX-License-Identifier: Apache-2.0
// Events of accelerators.
#pragma once

#include <atomic>

#include "device/event.h"
#include "device/gpu/driver.h"

namespace max::gpu {

class GpuEvent final : public MaxEvent {
 public:
  GpuEvent(Ref<MaxDevice> device, Ref<Context> context, bool timing);
  ~GpuEvent() override;

  void synchronize() const override;
  bool isReady() const override;
  int64_t elapsedSince(const MaxEvent& start) const override;

  Api api() const { return context_->api(); }
  void* native() const { return native_; }
  // On a stream of the same device.
  void record(void* stream);

 private:
  void requireTime(const char* which) const;

  Ref<Context> context_;
  void* native_ = nullptr;
  std::atomic<bool> wasRecorded_{false};
};

}  // namespace max::gpu
