// SPDX-License-Identifier: Apache-2.0
// A session: devices and settings that models are loaded with.
#pragma once

#include <utility>
#include <vector>

#include "base/ref.h"
#include "device/device.h"
#include "max/session.h"

struct MaxSession : max::Handle {
 public:
  // `devices` is not empty; lanes is at least 1.
  MaxSession(std::vector<max::Ref<MaxDevice>> devices, int lanes) : devices_(std::move(devices)), lanes_(lanes) {}

  const std::vector<max::Ref<MaxDevice>>& devices() const { return devices_; }
  MaxDevice& mainDevice() const { return *devices_.front(); }
  int lanes() const { return lanes_; }

 private:
  std::vector<max::Ref<MaxDevice>> devices_;
  int lanes_;
};
