// SPDX-License-Identifier: Apache-2.0
#include "device/device_registry.h"

#include <string_view>

#include "base/fork.h"
#include "device/cpu/cpu_device.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/virtual_device.h"
#include "device/virtual_devices.h"

namespace max {

namespace {

bool isAcceleratorApi(std::string_view api) { return api == "gpu" || gpu::findApi(api); }

// Virtual devices come before real ones.
Ref<MaxDevice> openAccelerator(std::string_view api, int32_t id, const MaxDeviceOptions& options) {
  const VirtualDevices devices = virtualDevices();
  if (!devices.matches(api)) return gpu::openGpu(api, id, options);
  require(id < devices.count, MAX_STATUS_UNAVAILABLE, "Device ", api, ":", id, " is not available: there are ",
          devices.count, " virtual ones");
  return gpu::openVirtualDevice(devices.api, id < 0 ? 0 : id, devices.architecture);
}

void requireApi(std::string_view api) {
  if (api == "cpu" || isAcceleratorApi(api)) return;
  fail(MAX_STATUS_NOT_FOUND, "No device API is named '", api, "'; there are 'cpu', ", gpu::apiNames(", "),
       " and 'gpu' (any accelerator)");
}

}  // namespace

Ref<MaxDevice> openDevice(const char* api, int32_t id, const MaxDeviceOptions& options) {
  requireApi(api);
  require(id >= -1, MAX_STATUS_INVALID_ARGUMENT, "Device id is ", id, "; it must be -1 (the first) or at least 0");
  if (isAcceleratorApi(api)) return openAccelerator(api, id, options);
  require(id <= 0, MAX_STATUS_NOT_FOUND, "There is no device cpu:", id, "; the host is cpu:0");
  return openCpuDevice(options);
}

Ref<MaxDevice> hostDevice() { return openDevice("cpu", 0); }

int32_t deviceCount(const char* api) {
  requireApi(api);
  if (!isAcceleratorApi(api)) return 1;
  const VirtualDevices devices = virtualDevices();
  return devices.matches(api) ? devices.count : gpu::gpuCount(api);
}

const char* acceleratorApi() {
  const VirtualDevices devices = virtualDevices();
  if (devices.count > 0) return devices.api;
  gpu::requireGpu();
  return gpu::gpuApi("gpu");
}

std::string acceleratorArchitecture() {
  const VirtualDevices devices = virtualDevices();
  if (devices.count > 0) return devices.architecture;
  gpu::requireGpu();
  return gpu::gpuArchitecture("gpu", 0);
}

}  // namespace max
