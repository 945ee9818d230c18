// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/nvml.h"

#include "device/gpu/library.h"

namespace max::gpu {

namespace {

class Nvml {
 public:
  Nvml() : library_("MAX_NVML_LIBRARY", kNames) {
#define MAX_NVML_BIND(member, name, parameters) library_.bind(name, member##_);
    MAX_NVML_SYMBOLS(MAX_NVML_BIND)
#undef MAX_NVML_BIND
    isReady_ = init_ && handle_ && init_() == 0;
  }

  Telemetry read(const std::string& busId) const {
    Telemetry reading;
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

}  // namespace

// Opened on first use, and never closed.
Telemetry nvmlTelemetry(const std::string& busId) {
  static const Nvml& library = *new Nvml;
  return library.read(busId);
}

}  // namespace max::gpu
