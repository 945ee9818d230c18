// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/stats.h"

#include <cstdio>

#include "device/gpu/library.h"
#include "device/gpu/stats_abi.h"

namespace max::gpu {

namespace {

constexpr int64_t kMilli = 1000;

// Everything a library knows about a device, or nothing.
struct Reading {
  bool hasUtilization = false;
  bool hasTemperature = false;
  bool hasPower = false;
  uint32_t utilization = 0;
  int32_t temperature = 0;
  uint64_t power = 0;
};

template <class Function>
void bind(const Library& library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
}

class Nvml {
 public:
  Nvml() : library_("MAX_NVML_LIBRARY", kNames) {
#define MAX_NVML_BIND(member, name, parameters) bind(library_, name, member##_);
    MAX_NVML_SYMBOLS(MAX_NVML_BIND)
#undef MAX_NVML_BIND
    isReady_ = init_ && handle_ && init_() == 0;
  }

  Reading read(const std::string& busId) const {
    Reading reading;
    void* device = nullptr;
    if (!isReady_ || handle_(busId.c_str(), &device) != 0) return reading;
    nvml::Utilization utilization{};
    unsigned value = 0;
    reading.hasUtilization = utilization_ && utilization_(device, &utilization) == 0;
    reading.utilization = utilization.device;
    reading.hasTemperature = temperature_ && temperature_(device, nvml::kTemperatureOfDevice, &value) == 0;
    reading.temperature = static_cast<int32_t>(value);
    reading.hasPower = power_ && power_(device, &value) == 0;
    reading.power = value;
    return reading;
  }

 private:
  static constexpr const char* kNames[] = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
  Library library_;
// NOLINTNEXTLINE(bugprone-macro-parentheses): parameters of a function
#define MAX_NVML_MEMBER(member, name, parameters) int(*member##_) parameters = nullptr;
  MAX_NVML_SYMBOLS(MAX_NVML_MEMBER)
#undef MAX_NVML_MEMBER
  bool isReady_ = false;
};

class RocmSmi {
 public:
  RocmSmi() : library_("MAX_ROCM_SMI_LIBRARY", kNames) {
#define MAX_ROCM_SMI_BIND(member, name, parameters) bind(library_, name, member##_);
    MAX_ROCM_SMI_SYMBOLS(MAX_ROCM_SMI_BIND)
#undef MAX_ROCM_SMI_BIND
    isReady_ = init_ && count_ && busId_ && init_(0) == 0;
  }

  Reading read(const std::string& busId) const {
    Reading reading;
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

// Opened on first use, and never closed.
Reading readingOf(Api api, const std::string& busId) {
  if (api == Api::Cuda) {
    static const Nvml& library = *new Nvml;
    return library.read(busId);
  }
  static const RocmSmi& library = *new RocmSmi;
  return library.read(busId);
}

}  // namespace

void addTelemetry(Api api, const std::string& busId, MaxDeviceStats& stats) {
  if (busId.empty() || isCutOffByFork()) return;
  const Reading reading = readingOf(api, busId);
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
