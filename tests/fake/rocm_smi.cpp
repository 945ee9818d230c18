// SPDX-License-Identifier: Apache-2.0
// A fake ROCm SMI. It counts devices in another order than the driver, as the real one may.
#include <cstdint>

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kInvalidArgument = 1;
constexpr int kNotSupported = 2;
constexpr int kInitError = 8;
constexpr uint32_t kDevices = 2;

bool initialized = false;

uint32_t busOf(uint32_t device) { return kDevices - device; }

}  // namespace

FAKE_API int rsmi_init(uint64_t flags) {
  initialized = flags == 0;
  return initialized ? 0 : kInvalidArgument;
}

FAKE_API int rsmi_num_monitor_devices(uint32_t* count) {
  if (!initialized) return kInitError;
  *count = kDevices;
  return 0;
}

FAKE_API int rsmi_dev_pci_id_get(uint32_t device, uint64_t* number) {
  if (device >= kDevices) return kInvalidArgument;
  *number = uint64_t{busOf(device)} << 8 | uint64_t{3} << 28;
  return 0;
}

FAKE_API int rsmi_dev_busy_percent_get(uint32_t device, uint32_t* percent) {
  *percent = 20 * busOf(device);
  return 0;
}

// The second device has no sensor at its edge, and says what it draws now, not on average.
FAKE_API int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t* value) {
  if (metric != 0 || sensor > 1) return kInvalidArgument;
  if (sensor == 0 && busOf(device) == 2) return kNotSupported;
  *value = sensor == 0 ? 51700 : 63200;
  return 0;
}

FAKE_API int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t* value) {
  if (sensor != 0) return kInvalidArgument;
  if (busOf(device) == 2) return kNotSupported;
  *value = 110000000;
  return 0;
}

FAKE_API int rsmi_dev_power_get(uint32_t, uint64_t* value, uint32_t* kind) {
  *value = 220000999;
  *kind = 1;
  return 0;
}
