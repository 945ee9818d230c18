// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <new>

#include "device/device.h"

std::optional<max::Error> max::failureOf(StreamTask& task, MaxStatus earlier) noexcept {
  try {
    task.run(earlier);
    return std::nullopt;
  } catch (Error& thrown) {
    return std::move(thrown);
  } catch (const std::bad_alloc&) {
    return Error(MAX_STATUS_RESOURCE_EXHAUSTED, "Out of memory");  // fits without an allocation
  } catch (...) {
    return Error(MAX_STATUS_INTERNAL, "Unknown error");
  }
}

MaxStream::MaxStream(MaxDevice& device, bool isDefault, bool runsInline)
    : device_(device), counted_(this), runsInline_(runsInline) {
  if (isDefault) {
    counted_ = &device;
  } else {
    device.retain();
    max::addLiveObjects(1);
  }
}

MaxStream::~MaxStream() {
  if (isDefault()) return;
  max::addLiveObjects(-1);
  device_.release();
}

void MaxStream::copyPeer(max::MemoryRange, MaxDevice& targetDevice, max::MemoryRange, MaxDevice& sourceDevice, size_t) {
  max::fail(MAX_STATUS_UNIMPLEMENTED, "A stream of ", device_.displayName(), " cannot copy from ",
            sourceDevice.displayName(), " to ", targetDevice.displayName());
}

void MaxStream::noteUse(const max::Ref<max::Storage>& memory) {
  if (memory) submit([memory] {});
}

void MaxStream::waitFor(MaxStream& other) {
  check();
  other.check();
  // Work on an inline stream was done before the call that asked for it returned.
  if (&other == this || other.runsInline()) return;
  const max::Ref<MaxEvent> event = other.device().createEvent(false);
  other.record(*event);
  wait(*event);
}
