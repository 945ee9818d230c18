// SPDX-License-Identifier: Apache-2.0
// A driver's information about a device; nothing here needs a context.
#pragma once

#include <string>

#include "device/gpu/driver.h"
#include "max/device.h"

namespace max::gpu {

// Throws UNIMPLEMENTED if the device does not have it.
int64_t attributeOf(const Driver& driver, int device, MaxDeviceAttribute attribute);
std::string deviceName(const Driver& driver, int device);
// "sm_90", "gfx90a"
std::string architectureOf(const Driver& driver, int device);
// Whether kernels compiled by the library can run there.
bool isCompatible(const Driver& driver, int device);
// Throws the driver's error: "cuDeviceGet: CUDA_ERROR_INVALID_DEVICE".
[[noreturn]] void failDriver(const Driver& driver, const char* function, int error);

}  // namespace max::gpu
