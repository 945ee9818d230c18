// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_work.h"

#include <exception>

#include "base/active_call.h"

namespace max::gpu {

void GpuWork::wait(uint64_t position) {
  if (isDone(position)) return;
  if (const Ref<StreamMark> now = mark()) {
    const ActiveCall* call = activeCall();
    if (call && call->interrupt) pollUntilDone(*call->interrupt, [&] { return now->isDone(); });
    now->wait();
  }
  noteDone(position);
}

std::unique_ptr<StreamTask> GpuWork::waitTask(uint64_t) {
  return makeWaitTask([now = mark()] {
    if (now) now->wait();
  });
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

Ref<StreamMark> GpuWork::mark() {
  const std::lock_guard lock(mutex_);
  return events_ ? makeRef<StreamMark>(events_, native_) : last_;
}

void GpuWork::close(bool isDone) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (!isDone && events_->source().isUsable()) last_ = makeRef<StreamMark>(events_, native_);
  } catch (const std::exception&) {  // then the driver does not work any more
  }
  events_.reset();
  if (!last_) noteDone(kAll);
}

}  // namespace max::gpu
