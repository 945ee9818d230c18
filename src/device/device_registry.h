// SPDX-License-Identifier: Apache-2.0
// Opens the devices of all APIs.
#pragma once

#include <string>

#include "device/device.h"

namespace max {

// The device of an API ("cpu", "cuda", "hip", "gpu") and id (-1 = first). `options` count for the first reference.
Ref<MaxDevice> openDevice(const char* api, int32_t id, const MaxDeviceOptions& options = MAX_DEVICE_OPTIONS_INIT);
// The host.
Ref<MaxDevice> hostDevice();
int32_t deviceCount(const char* api);
// Of the first accelerator, which may be virtual; throws UNAVAILABLE if there is none.
const char* acceleratorApi();
std::string acceleratorArchitecture();

}  // namespace max
