// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/stats.h"

namespace max::gpu {

void addTelemetry(const Api& api, const std::string& busId, MaxDeviceStats& stats) {
  if (!api.telemetry || busId.empty() || isCutOffByFork()) return;
  const Telemetry reading = api.telemetry(busId);
  if (reading.hasUtilization) {
    stats.utilization = reading.utilization;
    stats.validMask |= MAX_DEVICE_STATS_UTILIZATION;
  }
  if (reading.hasTemperature) {
    stats.temperature = reading.temperature;
    stats.validMask |= MAX_DEVICE_STATS_TEMPERATURE;
  }
  if (reading.hasPower) {
    stats.power = reading.power;
    stats.validMask |= MAX_DEVICE_STATS_POWER;
  }
}

std::string busIdOf(const Driver& driver, int device) {
  char text[32] = {};
  if (!driver.deviceGetBusId || driver.deviceGetBusId(text, sizeof text, device) != kSuccess) return {};
  text[sizeof text - 1] = '\0';
  return text;
}

}  // namespace max::gpu
