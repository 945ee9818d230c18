// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/rocm_smi.h"

#include <cstdio>

#include "device/gpu/library.h"

namespace max::gpu {

namespace {

constexpr int64_t kMilli = 1000;

class RocmSmi {
 public:
  RocmSmi() : library_("MAX_ROCM_SMI_LIBRARY", kNames) {
#define MAX_ROCM_SMI_BIND(member, name, parameters) library_.bind(name, member##_);
    MAX_ROCM_SMI_SYMBOLS(MAX_ROCM_SMI_BIND)
#undef MAX_ROCM_SMI_BIND
    isReady_ = init_ && count_ && busId_ && init_(0) == 0;
  }

  Telemetry read(const std::string& busId) const {
    Telemetry reading;
    uint32_t device = 0;
    if (!isReady_ || !find(busId, device)) return reading;
    reading.hasUtilization = busyPercent_ && busyPercent_(device, &reading.utilization) == 0;
    int64_t temperature = 0;
    reading.hasTemperature = readTemperature(device, temperature);
    reading.temperature = static_cast<int32_t>(temperature / kMilli);
    uint64_t microwatts = 0;
    reading.hasPower = readPower(device, microwatts);
    reading.power = microwatts / kMilli;
    return reading;
  }

 private:
  static constexpr const char* kNames[] = {"librocm_smi64.so", "librocm_smi64.so.1", "librocm_smi64.so.5",
                                           "librocm_smi64.so.6", "librocm_smi64.so.7"};

  bool find(const std::string& busId, uint32_t& device) const {
    uint64_t wanted = 0;
    uint32_t count = 0;
    if (!parseBusId(busId, wanted) || count_(&count) != 0) return false;
    for (device = 0; device < count; ++device) {
      uint64_t number = 0;
      if (busId_(device, &number) == 0 && (number & ~rocm_smi::kPartitionBits) == wanted) return true;
    }
    return false;
  }

  // Large devices have no edge sensor, only a hotspot sensor.
  bool readTemperature(uint32_t device, int64_t& value) const {
    if (!temperature_) return false;
    for (const uint32_t sensor : {rocm_smi::kSensorEdge, rocm_smi::kSensorJunction})
      if (temperature_(device, sensor, rocm_smi::kCurrentTemperature, &value) == 0) return true;
    return false;
  }

  bool readPower(uint32_t device, uint64_t& value) const {
    if (averagePower_ && averagePower_(device, 0, &value) == 0) return true;
    uint32_t kind = 0;
    return power_ && power_(device, &value, &kind) == 0;
  }

  Library library_;
// NOLINTNEXTLINE(bugprone-macro-parentheses): parameters of a function
#define MAX_ROCM_SMI_MEMBER(member, name, parameters) int(*member##_) parameters = nullptr;
  MAX_ROCM_SMI_SYMBOLS(MAX_ROCM_SMI_MEMBER)
#undef MAX_ROCM_SMI_MEMBER
  bool isReady_ = false;
};

}  // namespace

// Opened on first use, and never closed.
Telemetry rocmSmiTelemetry(const std::string& busId) {
  static const RocmSmi& library = *new RocmSmi;
  return library.read(busId);
}

bool parseBusId(const std::string& text, uint64_t& number) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (std::sscanf(text.c_str(), "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4) return false;
  number = uint64_t{domain} << 32 | uint64_t{bus} << 8 | uint64_t{device} << 3 | function;
  return true;
}

}  // namespace max::gpu
