// SPDX-License-Identifier: Apache-2.0
// A fake NVML: what it says of a device follows from the number of its bus.
#include "device/gpu/nvml.h"

#include <cstdlib>
#include <cstring>

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kUninitialized = 1;
constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;

bool initialized = false;
char devices[256];

size_t busOf(const void* device) { return static_cast<size_t>(static_cast<const char*>(device) - devices); }

}  // namespace

FAKE_API int nvmlInit_v2() {
  initialized = true;
  return 0;
}

FAKE_API int nvmlDeviceGetHandleByPciBusId_v2(const char* busId, void** device) {
  if (!initialized) return kUninitialized;
  if (std::strlen(busId) != 12) return kInvalidArgument;
  const auto bus = std::strtoul(busId + 5, nullptr, 16);
  if (bus == 0 || bus > 2) return kNotFound;
  *device = devices + bus;
  return 0;
}

FAKE_API int nvmlDeviceGetUtilizationRates(void* device, max::gpu::nvml::Utilization* utilization) {
  *utilization = {static_cast<unsigned>(10 * busOf(device)), 3};
  return 0;
}

FAKE_API int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  if (sensor != 0) return kInvalidArgument;
  *degrees = static_cast<unsigned>(40 + busOf(device));
  return 0;
}

// The second device does not measure its power.
FAKE_API int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (busOf(device) == 2) return 3;
  *milliwatts = 71500;
  return 0;
}
