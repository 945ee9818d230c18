// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_event.h"

#include <cmath>

#include "device/device.h"

namespace max::gpu {

namespace {

constexpr unsigned kWithoutTiming = 2;
constexpr double kNanosecondsPerMillisecond = 1e6;

}  // namespace

GpuEvent::GpuEvent(Ref<MaxDevice> device, Ref<Context> context, bool timing)
    : MaxEvent(std::move(device), timing), context_(std::move(context)) {
  context_->call(context_->driver().eventCreate, &native_, timing ? 0u : kWithoutTiming);
}

GpuEvent::~GpuEvent() { context_->tryCall(context_->driver().eventDestroy, native_); }

void GpuEvent::record(void* stream) {
  context_->call(context_->driver().eventRecord, native_, stream);
  wasRecorded_.store(true, std::memory_order_relaxed);
}

void GpuEvent::synchronize() const { context_->call(context_->driver().eventSynchronize, native_); }

bool GpuEvent::isReady() const {
  const int error = context_->query(context_->driver().eventQuery, native_);
  if (error != kSuccess && error != kNotReady) context_->fail(context_->driver().eventQuery.name, error);
  return error == kSuccess;
}

void GpuEvent::requireTime(const char* which) const {
  require(timing(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event was made without timing");
  require(wasRecorded_.load(std::memory_order_relaxed), MAX_STATUS_FAILED_PRECONDITION, "The ", which,
          " event was never recorded");
  require(isReady(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event is not done yet");
}

int64_t GpuEvent::elapsedSince(const MaxEvent& given) const {
  const auto& start = static_cast<const GpuEvent&>(given);
  start.requireTime("start");
  requireTime("end");
  float milliseconds = 0;
  context_->call(context_->driver().eventElapsedTime, &milliseconds, start.native_, native_);
  return std::llround(double{milliseconds} * kNanosecondsPerMillisecond);
}

}  // namespace max::gpu
