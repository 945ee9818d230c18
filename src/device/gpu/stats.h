// SPDX-License-Identifier: Apache-2.0
// Device data from an API's management library.
#pragma once

#include <string>

#include "device/gpu/driver.h"
#include "max/device.h"

namespace max::gpu {

// Fills in utilization, temperature and power, as far as the API's library
// provides them. `busId`: "0000:c1:00.0".
void addTelemetry(const Api& api, const std::string& busId, MaxDeviceStats& stats);
// The device's PCI bus id; empty if the driver does not report it.
std::string busIdOf(const Driver& driver, int device);

}  // namespace max::gpu
