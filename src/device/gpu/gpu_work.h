// SPDX-License-Identifier: Apache-2.0
// The work of an accelerator's stream, for other streams.
#pragma once

#include <atomic>
#include <mutex>

#include "device/gpu/allocator_streams.h"
#include "device/gpu/driver.h"
#include "device/gpu/host_queue.h"
#include "device/stream_work.h"

namespace max::gpu {

class GpuWork final : public StreamWork {
 public:
  // `native` is valid until close(). A stream that is not counted has work that this library does not see.
  GpuWork(const Api& api, Ref<EventPool> events, Ref<HostQueue> hostQueue, void* native, bool isCounted)
      : api_(api),
        events_(std::move(events)),
        hostQueue_(std::move(hostQueue)),
        native_(native),
        isCounted_(isCounted) {}

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

  const Api& api() const { return api_; }
  void noteQueued() noexcept { queued_.fetch_add(1, std::memory_order_release); }
  // Like noteQueued, for a host function or a wait for another stream, which may be followed by one.
  void noteHostWorkQueued() noexcept;
  // Whether host work may still be queued, as far as is known without asking the driver.
  bool mayHaveHostWork() const noexcept { return !isDone(hostWork_.load(std::memory_order_relaxed)); }
  void noteDone(uint64_t position) noexcept;
  // From now on other code may queue work too.
  void stopCounting() noexcept { isCounted_.store(false, std::memory_order_relaxed); }
  // A mark of all currently queued work.
  Ref<StreamMark> mark();
  // The stream is closed; its work may have been waited for.
  void close(bool isDone) noexcept;

 private:
  static constexpr uint64_t kAll = UINT64_MAX;

  const Api& api_;
  Ref<EventPool> events_;  // by the mutex; NULL when the stream is closed
  const Ref<HostQueue> hostQueue_;
  std::mutex mutex_;
  void* native_;          // by the mutex
  Ref<StreamMark> last_;  // by the mutex: of a closed stream; NULL = its work is done
  std::atomic<uint64_t> queued_{0};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> hostWork_{0};  // the position after the last host work
  std::atomic<bool> isCounted_;
};

}  // namespace max::gpu
