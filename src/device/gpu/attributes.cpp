// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/attributes.h"

#include <algorithm>

namespace max::gpu {

namespace {

constexpr size_t kNameSize = 256;
constexpr int64_t kWarpSize = 32;  // of kernels, whatever the chip has: max_hip.h makes two warps of 64 lanes

// -1 = the driver has no such attribute.
int numberOf(const Api& api, MaxDeviceAttribute attribute) {
  if (api.attributes.empty()) return attribute;
  const auto row = std::ranges::find(api.attributes, attribute, &AttributeNumber::attribute);
  return row == api.attributes.end() ? -1 : row->number;
}

}  // namespace

void failDriver(const Driver& driver, const char* function, int error) {
  fail(statusOf(error), function, ": ", driver.errorName(error));
}

int64_t attributeOf(const Driver& driver, int device, MaxDeviceAttribute attribute) {
  if (attribute == MAX_DEVICE_ATTRIBUTE_WARP_SIZE) return kWarpSize;
  const Symbol<int(int*, int, int)>& get = driver.deviceGetAttribute;
  const int number = numberOf(*driver.api, attribute);
  int value = 0;
  const int error = number < 0 ? kInvalidValue : driver.forget(get(&value, number, device));
  require(error != kInvalidValue, MAX_STATUS_UNIMPLEMENTED, "Device ", driver.api->name, ':', device,
          " has no attribute ", attribute);
  if (error != kSuccess) failDriver(driver, get.name, error);
  return value;
}

std::string deviceName(const Driver& driver, int device) {
  char name[kNameSize] = {};
  if (const int error = driver.deviceGetName(name, static_cast<int>(kNameSize) - 1, device); error != kSuccess)
    failDriver(driver, driver.deviceGetName.name, error);
  return name;
}

std::string architectureOf(const Driver& driver, int device) { return driver.api->architecture(driver, device); }

bool isCompatible(const Driver& driver, int device) { return driver.api->isCompatible(driver, device); }

}  // namespace max::gpu
