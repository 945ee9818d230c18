// SPDX-License-Identifier: Apache-2.0
#include "max/device.h"

#include "base/intern.h"
#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "capi/wait.h"
#include "device/device_registry.h"
#include "device/virtual_devices.h"

using max::capi::clearOutput;
using max::capi::getValue;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

template <class Getter>
MaxStatus getString(const MaxDevice* device, const char** out, const char* name, Getter getter) {
  return guard([&] {
    clearOutput(out, name);
    requireArgument(device, "device");
    *out = getter(*device);
  });
}

struct ScannedDevices {
  const char* label;
  int32_t count;
};

ScannedDevices scanDevices() {
  const int32_t accelerators = max::deviceCount("gpu");
  return accelerators > 0 ? ScannedDevices{"gpu", accelerators} : ScannedDevices{"cpu", 1};
}

}  // namespace

MaxStatus maxDeviceGetCount(const char* api, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(api, "api");
    *outCount = max::deviceCount(api);
  });
}

MaxStatus maxDeviceCreate(const char* api, int32_t id, const MaxDeviceOptions* options, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    requireArgument(api, "api");
    *outDevice = max::openDevice(api, id, max::capi::readOptions(options, "MaxDeviceOptions")).detach();
  });
}

void maxDeviceRetain(const MaxDevice* device) {
  if (device) device->retain();
}

void maxDeviceRelease(const MaxDevice* device) {
  if (device) device->release();
}

MaxStatus maxDeviceGetApi(const MaxDevice* device, const char** outApi) {
  return getString(device, outApi, "outApi", [](const MaxDevice& d) { return d.api(); });
}

MaxStatus maxDeviceGetLabel(const MaxDevice* device, const char** outLabel) {
  return getString(device, outLabel, "outLabel", [](const MaxDevice& d) { return d.label(); });
}

MaxStatus maxDeviceGetId(const MaxDevice* device, int32_t* outId) {
  return getValue(device, "device", outId, "outId", [](const MaxDevice& d) { return d.id(); });
}

MaxStatus maxDeviceGetName(const MaxDevice* device, const char** outName) {
  return getString(device, outName, "outName", [](const MaxDevice& d) { return d.name(); });
}

MaxStatus maxDeviceGetArchitectureName(const MaxDevice* device, const char** outName) {
  return getString(device, outName, "outName", [](const MaxDevice& d) { return d.architectureName(); });
}

MaxStatus maxDeviceIsHost(const MaxDevice* device, int32_t* outIsHost) {
  return getValue(device, "device", outIsHost, "outIsHost", [](const MaxDevice& d) { return d.isHost(); });
}

MaxStatus maxDeviceIsCompatible(const MaxDevice* device, int32_t* outIsCompatible) {
  return getValue(device, "device", outIsCompatible, "outIsCompatible",
                  [](const MaxDevice& d) { return d.isCompatible(); });
}

MaxStatus maxDeviceCanAccess(const MaxDevice* device, const MaxDevice* peer, int32_t* outCanAccess) {
  return getValue(device, "device", outCanAccess, "outCanAccess", [&](const MaxDevice& d) {
    requireArgument(peer, "peer");
    return d.canAccess(*peer);
  });
}

MaxStatus maxDeviceEnablePeerAccess(const MaxDevice* device, const MaxDevice* peer) {
  return guard([&] {
    requireArgument(device, "device");
    requireArgument(peer, "peer");
    const_cast<MaxDevice*>(device)->enablePeerAccess(*peer);
  });
}

MaxStatus maxDeviceGetDefaultStream(const MaxDevice* device, MaxStream** outStream) {
  return guard([&] {
    clearOutput(outStream, "outStream");
    requireArgument(device, "device");
    *outStream = &const_cast<MaxDevice*>(device)->defaultStream();
  });
}

MaxStatus maxDeviceSynchronize(const MaxDevice* device, int64_t timeoutNs) {
  return guard([&] {
    requireArgument(device, "device");
    max::capi::waitAtMost(timeoutNs, [&] { const_cast<MaxDevice*>(device)->synchronize(); });
  });
}

MaxStatus maxDeviceGetMemoryInfo(const MaxDevice* device, uint64_t* outFree, uint64_t* outTotal) {
  return guard([&] {
    requireArgument(device, "device");
    requireArgument(outFree, "outFree");
    requireArgument(outTotal, "outTotal");
    const max::MemoryInfo info = device->memoryInfo();
    *outFree = info.free;
    *outTotal = info.total;
  });
}

MaxStatus maxDeviceGetStats(const MaxDevice* device, MaxDeviceStats* stats) {
  return guard([&] {
    requireArgument(device, "device");
    requireArgument(stats, "stats");
    max::capi::writeReport(stats, device->stats(), "MaxDeviceStats");
  });
}

MaxStatus maxDeviceGetAttribute(const MaxDevice* device, MaxDeviceAttribute attribute, int64_t* outValue) {
  return getValue(device, "device", outValue, "outValue", [&](const MaxDevice& d) { return d.attribute(attribute); });
}

MaxStatus maxDeviceGetDriverVersion(const MaxDevice* device, int64_t* outVersion) {
  return getValue(device, "device", outVersion, "outVersion", [](const MaxDevice& d) { return d.driverVersion(); });
}

MaxStatus maxDeviceTrim(const MaxDevice* device) {
  return guard([&] {
    requireArgument(device, "device");
    const_cast<MaxDevice*>(device)->trim();
  });
}

MaxStatus maxHostAllocate(MaxDevice* device, size_t byteCount, void** outPointer) {
  return guard([&] {
    clearOutput(outPointer, "outPointer");
    *outPointer = max::capi::deviceFor(device)->allocateHost(byteCount);
  });
}

MaxStatus maxHostFree(MaxDevice* device, void* pointer) {
  return guard([&] { max::capi::deviceFor(device)->freeHost(pointer); });
}

MaxStatus maxDeviceScan(int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    *outCount = scanDevices().count;
  });
}

MaxStatus maxDeviceGetScanned(int32_t index, const char** outLabel, int32_t* outId) {
  return guard([&] {
    clearOutput(outLabel, "outLabel");
    requireArgument(outId, "outId");
    const ScannedDevices devices = scanDevices();
    max::require(index >= 0 && index < devices.count, MAX_STATUS_OUT_OF_RANGE, "Device index is ", index,
                 "; there are ", devices.count);
    *outLabel = devices.label;
    *outId = index;
  });
}

MaxStatus maxAcceleratorGetApi(const char** outApi) {
  return guard([&] {
    clearOutput(outApi, "outApi");
    *outApi = max::acceleratorApi();
  });
}

MaxStatus maxAcceleratorGetArchitectureName(const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = max::intern(max::acceleratorArchitecture());
  });
}

MaxStatus maxVirtualDeviceSetCount(int32_t count) {
  return guard([&] { max::setVirtualDeviceCount(count); });
}

MaxStatus maxVirtualDeviceGetCount(int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    *outCount = max::virtualDevices().count;
  });
}

MaxStatus maxVirtualDeviceSetApi(const char* api) {
  return guard([&] {
    requireArgument(api, "api");
    max::setVirtualDeviceApi(api);
  });
}

MaxStatus maxVirtualDeviceGetApi(const char** outApi) {
  return guard([&] {
    clearOutput(outApi, "outApi");
    *outApi = max::virtualDevices().api;
  });
}

MaxStatus maxVirtualDeviceSetArchitectureName(const char* name) {
  return guard([&] {
    requireArgument(name, "name");
    max::setVirtualDeviceArchitecture(name);
  });
}

MaxStatus maxVirtualDeviceGetArchitectureName(const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = max::intern(max::virtualDevices().architecture);
  });
}
