// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_work.h"

#include "base/active_call.h"

namespace max::gpu {

namespace {

void requireUncaptured(StreamMark& mark) {
  require(!mark.isHeldUp(), MAX_STATUS_FAILED_PRECONDITION,
          "Work of a stream that is being captured cannot be waited for: it is not done before its graph is launched");
}

}  // namespace

void GpuWork::wait(uint64_t position) {
  if (isDone(position)) return;
  if (const Ref<StreamMark> now = mark()) {
    requireUncaptured(*now);
    const ActiveCall* call = activeCall();
    if (call && call->interrupt) pollUntilDone(*call->interrupt, [&] { return now->isDone(); });
    now->wait();
  }
  noteDone(position);
}

std::unique_ptr<StreamTask> GpuWork::waitTask(uint64_t) {
  const Ref<StreamMark> now = mark();
  if (now) requireUncaptured(*now);
  return makeWaitTask([now] {
    if (now) now->wait();
  });
}

// A mark in a capture cannot be asked whether it is done.
void GpuWork::makeCaptureWait(void* stream) {
  EventPool& events = *stream_->events();
  void* event = events.take();
  try {
    events.source().recordEvent(event, stream_->native());
    events.source().makeStreamWait(stream, event);
  } catch (...) {
    events.giveBack(event);
    throw;
  }
  events.giveBack(event);
}

void GpuWork::noteHostWorkQueued() noexcept {
  const uint64_t position = queued_.fetch_add(1, std::memory_order_release) + 1;
  uint64_t last = hostWork_.load(std::memory_order_relaxed);
  while (last < position && !hostWork_.compare_exchange_weak(last, position, std::memory_order_relaxed)) continue;
}

void GpuWork::noteDone(uint64_t position) noexcept {
  uint64_t done = done_.load(std::memory_order_relaxed);
  while (done < position && !done_.compare_exchange_weak(done, position, std::memory_order_release)) continue;
}

void GpuWork::share() noexcept {
  stream_->noteShared();
  isCounted_.store(false, std::memory_order_relaxed);
}

}  // namespace max::gpu
