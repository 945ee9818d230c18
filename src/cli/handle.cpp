// SPDX-License-Identifier: Apache-2.0
#include "handle.h"

#include <charconv>
#include <cstring>

#include "examples.h"

namespace max::cli {

void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  const char* message = maxGetLastErrorMessage();
  throw Failure(maxStatusGetName(status), std::string(message, std::strcspn(message, "\n")));
}

Device openDevice(const std::string& name) {
  const size_t colon = name.find(':');
  int32_t id = -1;
  if (colon != std::string::npos) {
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + colon + 1, end, id);
    if (error != std::errc() || rest != end || id < 0)
      throw UsageError("--device: \"" + name + "\" is not a device; write for example " + deviceExamples());
  }
  Device device;
  check(maxDeviceCreate(name.substr(0, colon).c_str(), id, nullptr, device.out()));
  return device;
}

}  // namespace max::cli
