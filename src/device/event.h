// SPDX-License-Identifier: Apache-2.0
// Events: marks in streams.
#pragma once

#include "base/ref.h"
#include "max/event.h"

struct MaxDevice;

struct MaxEvent : max::Handle {
 public:
  MaxDevice& device() const { return *device_; }
  bool timing() const { return timing_; }

  virtual void synchronize() const = 0;
  virtual bool isReady() const = 0;
  // Nanoseconds from the mark of `start` to the mark of this event, of the same device.
  virtual int64_t elapsedSince(const MaxEvent& start) const = 0;

 protected:
  MaxEvent(max::Ref<MaxDevice> device, bool timing);
  ~MaxEvent() override;

 private:
  max::Ref<MaxDevice> device_;
  bool timing_;
};
