// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/virtual_device.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/fork.h"

namespace max::gpu {

namespace {

// Guarded by processMutex; devices destructors clear the entries. Never destroyed.
std::vector<VirtualDevice*>& openDevices() {
  static std::vector<VirtualDevice*>& devices = *new std::vector<VirtualDevice*>;
  return devices;
}

}  // namespace

VirtualStream::VirtualStream(VirtualDevice& device) : MaxStream(device, true, false) {}

void VirtualStream::refuse() const { static_cast<const VirtualDevice&>(device()).refuse(); }

VirtualDevice::VirtualDevice(const char* api, int32_t id, const std::string& architecture)
    : MaxDevice(api, "gpu", id, false),
      architecture_(architecture),
      name_(concat("virtual ", architecture)),
      defaultStream_(*this) {}

void VirtualDevice::refuse() const {
  fail(MAX_STATUS_UNAVAILABLE, "Device ", displayName(), " is virtual (", architecture_,
       "): code can be compiled for it, but nothing can run on it");
}

void VirtualDevice::enablePeerAccess(const MaxDevice& peer) {
  require(canAccess(peer), MAX_STATUS_UNIMPLEMENTED, "Device ", displayName(), " cannot access the memory of ",
          peer.displayName());
}

void VirtualDevice::freeHost(void* pointer) {
  require(!pointer, MAX_STATUS_INVALID_ARGUMENT, "Pointer is not a host allocation of device ", displayName());
}

void VirtualDevice::dispose() noexcept {
  {
    const std::lock_guard lock(processMutex());
    std::erase(openDevices(), this);
  }
  delete this;
}

Ref<MaxDevice> openVirtualDevice(const char* api, int32_t id, const std::string& architecture) {
  require(!architecture.empty(), MAX_STATUS_FAILED_PRECONDITION, "Virtual device ", api, ":", id,
          " has no architecture; set it with maxVirtualDeviceSetArchitectureName");
  const std::lock_guard lock(processMutex());
  std::vector<VirtualDevice*>& devices = openDevices();
  const auto found = std::ranges::find_if(devices, [&](const VirtualDevice* device) {
    return device->id() == id && std::string_view(device->api()) == api;
  });
  if (found != devices.end() && (*found)->tryRetain()) return Ref<MaxDevice>::adopt(*found);
  Ref<VirtualDevice> made = makeRef<VirtualDevice>(api, id, architecture);
  devices.push_back(made.get());
  return made;
}

}  // namespace max::gpu
