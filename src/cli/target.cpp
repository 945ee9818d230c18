// SPDX-License-Identifier: Apache-2.0
#include "target.h"

#include "examples.h"
#include "failure.h"

namespace max::cli {

const ApiName* findApi(const std::string& name) {
  for (const ApiName& row : kApiNames)
    if (name == row.api) return &row;
  return nullptr;
}

Target parseTarget(const std::string& text) {
  const size_t colon = text.find(':');
  Target target = {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const bool needsChip = findApi(target.api) != nullptr;
  if ((!needsChip && target.api != "cpu") || (target.architecture.empty() && (needsChip || colon != std::string::npos)))
    throw UsageError("--target: \"" + text + "\" is not a target; write for example " + targetExamples() + " or cpu");
  return target;
}

Device openTarget(const Target& target) {
  Device device;
  if (target.api != "cpu") {
    check(maxVirtualDeviceSetApi(target.api.c_str()));
    check(maxVirtualDeviceSetArchitectureName(target.architecture.c_str()));
    check(maxVirtualDeviceSetCount(1));
  }
  check(maxDeviceCreate(target.api.c_str(), 0, nullptr, device.out()));
  return device;
}

}  // namespace max::cli
