// SPDX-License-Identifier: Apache-2.0
// Accelerators that a process declares in order to compile for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace max {

struct VirtualDevices {
  int32_t count = 0;
  const char* api;
  std::string architecture;

  // Whether there are virtual devices that `wanted` (an API's name, or "gpu") may mean.
  bool matches(std::string_view wanted) const { return count > 0 && (wanted == "gpu" || wanted == api); }
};

VirtualDevices virtualDevices();
void setVirtualDeviceCount(int32_t count);
void setVirtualDeviceApi(std::string_view api);
void setVirtualDeviceArchitecture(std::string_view name);

}  // namespace max
