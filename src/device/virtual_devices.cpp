// SPDX-License-Identifier: Apache-2.0
#include "device/virtual_devices.h"

#include "base/error.h"
#include "base/fork.h"
#include "device/gpu/api.h"

namespace max {

namespace {

constexpr size_t kArchitectureLimit = 31;

// Never destroyed: a thread may use it while the process exits.
VirtualDevices& declared() {
  static VirtualDevices& devices = *new VirtualDevices{.api = gpu::apis().front()->name, .architecture = {}};
  return devices;
}

}  // namespace

VirtualDevices virtualDevices() {
  const std::lock_guard lock(processMutex());
  return declared();
}

void setVirtualDeviceCount(int32_t count) {
  require(count >= 0, MAX_STATUS_INVALID_ARGUMENT, "Number of virtual devices is negative: ", count);
  const std::lock_guard lock(processMutex());
  declared().count = count;
}

void setVirtualDeviceApi(std::string_view api) {
  const gpu::Api* found = gpu::findApi(api);
  if (!found) fail(MAX_STATUS_NOT_FOUND, "No accelerator API is named '", api, "'; there are ", gpu::apiNames());
  const std::lock_guard lock(processMutex());
  declared().api = found->name;
}

void setVirtualDeviceArchitecture(std::string_view name) {
  require(!name.empty() && name.size() <= kArchitectureLimit, MAX_STATUS_INVALID_ARGUMENT, "Architecture name has ",
          name.size(), " characters; it must have 1 to ", kArchitectureLimit);
  const std::lock_guard lock(processMutex());
  declared().architecture = name;
}

}  // namespace max
