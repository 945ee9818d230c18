// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "device/api_names.h"
#include "handle.h"
#include "output.h"

namespace max::cli {
namespace {

template <class Getter>
std::string textOf(const Device& device, Getter getter) {
  const char* text = nullptr;
  check(getter(device, &text));
  return text;
}

// Null if a device has none: a CPU has no architecture name and no driver.
Json architectureOf(const Device& device) {
  const char* name = nullptr;
  return maxDeviceGetArchitectureName(device, &name) == MAX_STATUS_OK ? Json(name) : Json();
}

Json driverVersionOf(const Device& device) {
  int64_t version = 0;
  return maxDeviceGetDriverVersion(device, &version) == MAX_STATUS_OK ? Json(version) : Json();
}

Json describe(const char* api, int32_t id) {
  Device device;
  check(maxDeviceCreate(api, id, nullptr, device.out()));
  uint64_t freeMemory = 0, totalMemory = 0;
  check(maxDeviceGetMemoryInfo(device, &freeMemory, &totalMemory));
  return {{"api", textOf(device, maxDeviceGetApi)},
          {"label", textOf(device, maxDeviceGetLabel)},
          {"id", id},
          {"name", textOf(device, maxDeviceGetName)},
          {"architecture", architectureOf(device)},
          {"free_memory", freeMemory},
          {"total_memory", totalMemory},
          {"driver_version", driverVersionOf(device)}};
}

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void addDevices(const char* api, Json& devices) {
  int32_t count = 0;
  check(maxDeviceGetCount(api, &count));
  for (int32_t id = 0; id < count; ++id) devices.push_back(describe(api, id));
}

}  // namespace

void listDevices(bool json) {
  Json devices = Json::array();
  addDevices("cpu", devices);
  for (const ApiName& name : kApiNames) addDevices(name.api, devices);
  if (json) return printJson(devices);

  Table table = {{"API", "LABEL", "ID", "NAME", "ARCHITECTURE", "FREE", "TOTAL", "DRIVER"}};
  for (const Json& device : devices)
    table.push_back({cell(device["api"]), cell(device["label"]), cell(device["id"]), cell(device["name"]),
                     cell(device["architecture"]), bytesText(device["free_memory"]), bytesText(device["total_memory"]),
                     cell(device["driver_version"])});
  printTable(table);
}

}  // namespace max::cli
