// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_event.h"

#include <cmath>

#include "base/active_call.h"
#include "device/device.h"
#include "device/stream.h"

namespace max::gpu {

namespace {

constexpr unsigned kWithoutTiming = 2;
constexpr double kNanosecondsPerMillisecond = 1e6;

}  // namespace

NativeEvent::NativeEvent(Ref<Context> context, bool timing) : context_(std::move(context)) {
  context_->call(context_->driver().eventCreate, &handle_, timing ? 0u : kWithoutTiming);
}

NativeEvent::~NativeEvent() { context_->tryCall(context_->driver().eventDestroy, handle_); }

void NativeEvent::record(void* stream, bool isCaptured) {
  captured_.store(isCaptured, std::memory_order_relaxed);
  context_->call(context_->driver().eventRecord, handle_, stream);
}

void NativeEvent::requireUncaptured() const {
  require(!isCaptured(), MAX_STATUS_FAILED_PRECONDITION,
          "The event's newest mark is part of a captured stream: it tells nothing of when work is done");
}

bool NativeEvent::isReady() const {
  requireUncaptured();
  const int error = context_->query(context_->driver().eventQuery, handle_);
  if (error != kSuccess && error != kNotReady) context_->fail(context_->driver().eventQuery.name, error);
  return error == kSuccess;
}

void NativeEvent::synchronize() const {
  requireUncaptured();
  const ActiveCall* call = activeCall();
  if (call && call->interrupt) pollUntilDone(*call->interrupt, [this] { return isReady(); });
  context_->call(context_->driver().eventSynchronize, handle_);
}

GpuEvent::GpuEvent(Ref<MaxDevice> device, Ref<Context> context, bool timing)
    : MaxEvent(std::move(device), timing),
      context_(std::move(context)),
      native_(makeRef<NativeEvent>(context_, timing)) {}

Ref<NativeEvent> GpuEvent::mark() const {
  const std::lock_guard lock(mutex_);
  return native_;
}

void GpuEvent::record(void* stream, bool isCaptured) {
  Ref<NativeEvent> next;
  {
    const std::lock_guard lock(mutex_);
    if (native_->isUnique()) next = native_;
  }
  if (!next) next = makeRef<NativeEvent>(context_, timing());
  next->record(stream, isCaptured);
  const std::lock_guard lock(mutex_);
  native_ = next;
  wasRecorded_.store(true, std::memory_order_relaxed);
}

void GpuEvent::synchronize() const { mark()->synchronize(); }

bool GpuEvent::isReady() const { return mark()->isReady(); }

void GpuEvent::requireTime(const char* which) const {
  require(timing(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event was created without timing");
  require(wasRecorded_.load(std::memory_order_relaxed), MAX_STATUS_FAILED_PRECONDITION, "The ", which,
          " event was never recorded");
  require(isReady(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event is not done yet");
}

int64_t GpuEvent::elapsedSince(const MaxEvent& given) const {
  const auto& start = static_cast<const GpuEvent&>(given);
  start.requireTime("start");
  requireTime("end");
  float milliseconds = 0;
  context_->call(context_->driver().eventElapsedTime, &milliseconds, start.mark()->handle(), mark()->handle());
  return std::llround(double{milliseconds} * kNanosecondsPerMillisecond);
}

std::unique_ptr<StreamTask> GpuEvent::waitTask() const {
  return makeWaitTask([now = mark()] { now->synchronize(); });
}

}  // namespace max::gpu
