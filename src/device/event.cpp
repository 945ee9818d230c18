// SPDX-License-Identifier: Apache-2.0
#include "device/event.h"

#include "device/device.h"

MaxEvent::MaxEvent(max::Ref<MaxDevice> device, bool timing) : device_(std::move(device)), timing_(timing) {}
MaxEvent::~MaxEvent() = default;
