// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include "base/error.h"

std::string MaxDevice::displayName() const { return max::concat(api_, ':', id_); }
