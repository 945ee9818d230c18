// SPDX-License-Identifier: Apache-2.0
// Events: marks in streams.
#pragma once

#include <memory>

#include "base/handle.h"
#include "base/ref.h"
#include "max/event.h"

struct MaxDevice;

namespace max {
class StreamTask;
}

struct MaxEvent : max::HandleOf<MaxEvent> {
 public:
  MaxDevice& device() const { return *device_; }
  bool timing() const { return timing_; }

  virtual void synchronize() const = 0;
  virtual bool isReady() const = 0;
  // Nanoseconds from the mark of `start` to the mark of this event, of the same device.
  virtual int64_t elapsedSince(const MaxEvent& start) const = 0;
  // For a stream of another driver: waits for the event's current mark.
  virtual std::unique_ptr<max::StreamTask> waitTask() const = 0;

 protected:
  MaxEvent(max::Ref<MaxDevice> device, bool timing);
  ~MaxEvent() override;

 private:
  max::Ref<MaxDevice> device_;
  bool timing_;
};
