// SPDX-License-Identifier: Apache-2.0
// The accelerators of this process, and the one object for each.
#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

#include "device/gpu/attributes.h"
#include "device/gpu/gpu_device.h"

namespace max::gpu {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<GpuDevice*> devices;  // destructors clear the entries
};

// Never destroyed: devices may be released while the process exits.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

// "gpu" = the first API with devices, or the first of all.
const Driver& driverFor(std::string_view name) {
  if (const Api* api = findApi(name)) return driverOf(*api);
  for (const Api* api : apis())
    if (driverOf(*api).deviceCount > 0) return driverOf(*api);
  return driverOf(*apis().front());
}

std::string reasonsFor(std::string_view name) {
  std::string reasons;
  for (const Api* api : apis())
    if (name == "gpu" || name == api->name)
      reasons += concat(reasons.empty() ? "" : "; ", api->name, ": ", driverOf(*api).problem);
  return reasons;
}

const Driver& requireDevice(std::string_view api, int32_t id) {
  const Driver& driver = driverFor(api);
  if (driver.deviceCount == 0)
    fail(MAX_STATUS_UNAVAILABLE, "Device ", api, ":", id, " is not available: ", reasonsFor(api));
  require(id < driver.deviceCount, MAX_STATUS_UNAVAILABLE, "Device ", api, ":", id, " is not available: there are ",
          driver.deviceCount, " of ", driver.api->name, ", from 0");
  return driver;
}

GpuDevice* findDevice(const std::vector<GpuDevice*>& devices, const Api& api, int32_t id) {
  const auto found = std::ranges::find_if(
      devices, [&](const GpuDevice* device) { return &device->context().api() == &api && device->id() == id; });
  return found == devices.end() ? nullptr : *found;
}

}  // namespace

void GpuDevice::dispose() noexcept {
  if (!isCutOffByFork()) {
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().devices, this);
  }
  afterHostFunction(destroy, this);
}

int32_t gpuCount(std::string_view api) { return driverFor(api).deviceCount; }

void requireGpu() {
  if (gpuCount("gpu") == 0) fail(MAX_STATUS_UNAVAILABLE, "There is no accelerator: ", reasonsFor("gpu"));
}

const char* gpuApi(std::string_view api) { return driverFor(api).api->name; }

std::string gpuArchitecture(std::string_view api, int32_t id) {
  const Driver& driver = requireDevice(api, id);
  int device = 0;
  const int error = driver.deviceGet(&device, id);
  require(error == kSuccess, statusOf(error), driver.deviceGet.name, ": ", driver.errorName(error));
  return architectureOf(driver, device);
}

Ref<MaxDevice> openGpu(std::string_view api, int32_t id, const MaxDeviceOptions& options) {
  id = std::max(id, 0);
  const Driver& driver = requireDevice(api, id);
  require(!isCutOffByFork(), MAX_STATUS_FAILED_PRECONDITION, "Device ", api, ":", id,
          " cannot be opened: the driver belongs to the parent process: forked");
  Registry& devices = registry();
  const std::lock_guard lock(devices.mutex);
  GpuDevice* device = findDevice(devices.devices, *driver.api, id);
  if (device && device->tryRetain()) return Ref<MaxDevice>::adopt(device);
  Ref<GpuDevice> made = makeRef<GpuDevice>(makeRef<Context>(driver, id), options);
  std::erase(devices.devices, device);
  devices.devices.push_back(made.get());
  return made;
}

}  // namespace max::gpu
