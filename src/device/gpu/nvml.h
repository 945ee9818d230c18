// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library. Rows are X(member, name, parameters); all return an int, 0 = success.
#pragma once

#include <string>

#include "device/gpu/api.h"

namespace max::gpu::nvml {

struct Utilization {
  unsigned device;  // percent
  unsigned memory;
};

inline constexpr int kTemperatureOfDevice = 0;

}  // namespace max::gpu::nvml

namespace max::gpu {

Telemetry nvmlTelemetry(const std::string& busId);

}  // namespace max::gpu

// Power is in milliwatts, temperature in degrees.
#define MAX_NVML_SYMBOLS(X)                                                                                 \
  X(init, "nvmlInit_v2", ())                                                                                \
  X(handle, "nvmlDeviceGetHandleByPciBusId_v2", (const char* busId, void** device))                         \
  X(utilization, "nvmlDeviceGetUtilizationRates", (void* device, max::gpu::nvml::Utilization* utilization)) \
  X(temperature, "nvmlDeviceGetTemperature", (void* device, int sensor, unsigned* degrees))                 \
  X(power, "nvmlDeviceGetPowerUsage", (void* device, unsigned* milliwatts))
