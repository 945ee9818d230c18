// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "device/device.h"
#include "device/event.h"

std::optional<max::Error> max::failureOf(StreamTask& task, const Error* earlier) noexcept {
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

max::Error max::copyOf(const Error& error) noexcept {
  try {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(error.status(), "Out of memory");  // fits without an allocation
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
  // On an inline stream, work is done before the enqueuing call returns.
  if (&other == this || other.runsInline()) return;
  const max::Ref<MaxEvent> event = other.device().createEvent(false);
  other.record(*event);
  wait(*event);
}

bool MaxStream::hasFollowed(const max::StreamWork& other, uint64_t position) {
  if (!other.isCounted()) return false;
  const std::lock_guard lock(followedMutex_);
  return std::ranges::any_of(followed_,
                             [&](const Followed& f) { return f.id == other.id() && f.position >= position; });
}

void MaxStream::noteFollowed(const max::StreamWork& other, uint64_t position) {
  const std::lock_guard lock(followedMutex_);
  auto* place = std::ranges::find(followed_, other.id(), &Followed::id);
  if (place == std::end(followed_)) --place;
  std::move_backward(std::begin(followed_), place, place + 1);
  followed_[0] = {other.id(), position};
}

void MaxStream::follow(max::StreamWork& other, uint64_t position) {
  if (&other == work() || other.isDone(position) || other.isRunningHere()) return;
  if (runsInline_) return awaitWork(other, position);
  if (hasFollowed(other, position)) return;
  awaitWork(other, position);
  noteFollowed(other, position);
}
