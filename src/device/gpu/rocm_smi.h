// SPDX-License-Identifier: Apache-2.0
// AMD's management library. Rows are X(member, name, parameters); all return an int, 0 = success.
#pragma once

#include <cstdint>
#include <string>

#include "device/gpu/api.h"

namespace max::gpu::rocm_smi {

inline constexpr uint32_t kSensorEdge = 0;
inline constexpr uint32_t kSensorJunction = 1;
inline constexpr int kCurrentTemperature = 0;
// Of a bus number: which part of a partitioned device.
inline constexpr uint64_t kPartitionBits = uint64_t{0xF} << 28;

}  // namespace max::gpu::rocm_smi

namespace max::gpu {

Telemetry rocmSmiTelemetry(const std::string& busId);
// Domain, bus, device and function as one number; false if the text is none.
bool parseBusId(const std::string& text, uint64_t& number);

}  // namespace max::gpu

// Power is in millionths of a watt, temperature in thousandths of a degree.
#define MAX_ROCM_SMI_SYMBOLS(X)                                                                              \
  X(init, "rsmi_init", (uint64_t flags))                                                                     \
  X(count, "rsmi_num_monitor_devices", (uint32_t * count))                                                   \
  X(busId, "rsmi_dev_pci_id_get", (uint32_t device, uint64_t * number))                                      \
  X(busyPercent, "rsmi_dev_busy_percent_get", (uint32_t device, uint32_t * percent))                         \
  X(temperature, "rsmi_dev_temp_metric_get", (uint32_t device, uint32_t sensor, int metric, int64_t* value)) \
  X(averagePower, "rsmi_dev_power_ave_get", (uint32_t device, uint32_t sensor, uint64_t * value))            \
  X(power, "rsmi_dev_power_get", (uint32_t device, uint64_t * value, uint32_t * kind))
