// SPDX-License-Identifier: Apache-2.0
// The work of an accelerator's stream, for other streams.
#pragma once

#include <atomic>
#include <utility>

#include "device/gpu/allocator_streams.h"
#include "device/gpu/driver.h"
#include "device/gpu/host_queue.h"
#include "device/stream_work.h"

namespace max::gpu {

class GpuWork final : public StreamWork {
 public:
  // A stream that is not counted has work that this library does not see.
  GpuWork(const Driver& driver, Ref<OrderedStream> stream, Ref<HostQueue> hostQueue, bool isCounted)
      : driver_(driver), stream_(std::move(stream)), hostQueue_(std::move(hostQueue)), isCounted_(isCounted) {}

  uint64_t position() const noexcept override { return queued_.load(std::memory_order_acquire); }
  bool isDone(uint64_t position) const noexcept override {
    const uint64_t done = done_.load(std::memory_order_acquire);
    return done == kAll || (isCounted() && done >= position);
  }
  bool isCounted() const noexcept override { return isCounted_.load(std::memory_order_relaxed); }
  bool isRunningHere() const noexcept override { return hostQueue_->isRunningHere(); }
  bool isCutOff() const noexcept override { return isCutOffByFork(); }
  void wait(uint64_t position) override;
  std::unique_ptr<StreamTask> waitTask(uint64_t position) override;

  const Api& api() const { return *driver_.api; }
  void noteQueued() noexcept { queued_.fetch_add(1, std::memory_order_release); }
  // Like noteQueued, for a host function or a wait for another stream, which may be followed by one.
  void noteHostWorkQueued() noexcept;
  // Whether host work may still be queued, as far as is known without asking the driver.
  bool mayHaveHostWork() const noexcept { return !isDone(hostWork_.load(std::memory_order_relaxed)); }
  void noteDone(uint64_t position) noexcept;
  // From now on other code may queue work too, or capture it.
  void share() noexcept;
  // Whether the work is being kept for a graph instead of being done.
  bool isCaptured() const { return driver_.streams->isCaptured(*stream_); }
  // A mark of all currently queued work; NULL = it is done.
  Ref<StreamMark> mark() { return driver_.streams->mark(*stream_); }
  // Of a captured stream, for another stream of the same capture.
  void makeCaptureWait(void* stream);
  void noteAllDone() noexcept { noteDone(kAll); }

 private:
  static constexpr uint64_t kAll = UINT64_MAX;

  const Driver& driver_;
  const Ref<OrderedStream> stream_;
  const Ref<HostQueue> hostQueue_;
  std::atomic<uint64_t> queued_{0};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> hostWork_{0};  // the position after the last host work
  std::atomic<bool> isCounted_;
};

}  // namespace max::gpu
