// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include "base/error.h"

max::Ref<max::WorkGraph> MaxDevice::record(max::FunctionRef<void(MaxStream&)>) {
  max::fail(MAX_STATUS_UNIMPLEMENTED, "Device ", displayName(), " has no graphs");
}

std::string MaxDevice::displayName() const { return max::concat(api_, ':', id_); }
