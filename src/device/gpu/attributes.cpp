// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/attributes.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace max::gpu {

namespace {

// hipDeviceAttribute_t, whose numbers are the same in HIP 5, 6 and 7.
struct HipAttribute {
  MaxDeviceAttribute attribute;
  int number;
};
constexpr HipAttribute kHipAttributes[] = {
    {MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 56},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 26},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 27},
    {MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 28},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 29},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 30},
    {MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 31},
    {MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 74},
    {MAX_DEVICE_ATTRIBUTE_WARP_SIZE, 87},
    {MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 71},
    {MAX_DEVICE_ATTRIBUTE_CLOCK_RATE, 5},
    {MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 63},
    {MAX_DEVICE_ATTRIBUTE_INTEGRATED, 16},
    {MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 19},
    {MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 57},
    {MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 23},
    {MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 61},
    {MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 10002},
};

// Offset of gcnArchName (256 bytes) in hipDeviceProp_t, in HIP 5 and since HIP 6. The size suffices for both.
constexpr size_t kPropertiesSize = 16384;
constexpr size_t kArchitecture5 = 396;
constexpr size_t kArchitecture6 = 1160;
constexpr size_t kNameSize = 256;

// Architectures that run-time compilers support.
constexpr int64_t kOldestCapability = 5;

int numberOf(const Driver& driver, MaxDeviceAttribute attribute) {
  if (driver.api == Api::Cuda) return attribute;
  const auto* row = std::ranges::find(kHipAttributes, attribute, &HipAttribute::attribute);
  return row == std::end(kHipAttributes) ? -1 : row->number;
}

[[noreturn]] void failOf(const Driver& driver, const char* function, int error) {
  fail(statusOf(error), function, ": ", driver.errorName(error));
}

std::string hipArchitecture(const Driver& driver, int device) {
  const bool isNew = static_cast<bool>(driver.hipGetProperties6);
  const Symbol<int(void*, int)>& get = isNew ? driver.hipGetProperties6 : driver.hipGetProperties5;
  require(static_cast<bool>(get), MAX_STATUS_UNAVAILABLE, "The driver of hip lacks ", get.name);
  std::vector<char> properties(kPropertiesSize, '\0');
  if (const int error = get(properties.data(), device); error != kSuccess) failOf(driver, get.name, error);
  const char* text = properties.data() + (isNew ? kArchitecture6 : kArchitecture5);
  // "gfx90a:sramecc+:xnack-": features follow the architecture.
  const char* end = std::find_if(text, text + kNameSize, [](char c) { return c == '\0' || c == ':'; });
  return std::string(text, end);
}

}  // namespace

int64_t attributeOf(const Driver& driver, int device, MaxDeviceAttribute attribute) {
  const Symbol<int(int*, int, int)>& get = driver.deviceGetAttribute;
  const int number = numberOf(driver, attribute);
  int value = 0;
  const int error = number < 0 ? kInvalidValue : driver.forget(get(&value, number, device));
  require(error != kInvalidValue, MAX_STATUS_UNIMPLEMENTED, "Device ", nameOf(driver.api), ':', device,
          " has no attribute ", attribute);
  if (error != kSuccess) failOf(driver, get.name, error);
  return value;
}

std::string deviceName(const Driver& driver, int device) {
  char name[kNameSize] = {};
  if (const int error = driver.deviceGetName(name, static_cast<int>(kNameSize) - 1, device); error != kSuccess)
    failOf(driver, driver.deviceGetName.name, error);
  return name;
}

std::string architectureOf(const Driver& driver, int device) {
  if (driver.api == Api::Hip) return hipArchitecture(driver, device);
  return concat("sm_", attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

bool isCompatible(const Driver& driver, int device) {
  if (driver.api == Api::Hip) return hipArchitecture(driver, device).starts_with("gfx");
  return attributeOf(driver, device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= kOldestCapability;
}

}  // namespace max::gpu
