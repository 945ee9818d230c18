// SPDX-License-Identifier: Apache-2.0
// What the vendors' management libraries (NVML, ROCm SMI) know about a device beside its driver.
#pragma once

#include <string>

#include "device/gpu/driver.h"
#include "max/device.h"

namespace max::gpu {

// Fills utilization, temperature and power in, as far as the library of the API is there and tells.
// `busId`: "0000:c1:00.0".
void addTelemetry(Api api, const std::string& busId, MaxDeviceStats& stats);
// Where the device is on the PCI bus; empty if the driver does not tell.
std::string busIdOf(const Driver& driver, int device);

// For ROCm SMI: domain, bus, device and function as one number; false if the text is none.
bool parseBusId(const std::string& text, uint64_t& number);

}  // namespace max::gpu
