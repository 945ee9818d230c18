// SPDX-License-Identifier: Apache-2.0
// Host events, using only atomics, so that a fork cannot leave a lock held.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/event.h"
#include "device/stream.h"

namespace max {

// The marks of one event; queued work holds it, so that the event's handle can be released earlier. Mark numbers wrap
// around.
class CpuMarks final : public RefCounted {
 public:
  // Number of a new mark; complete() says that it is done.
  uint32_t add();
  void complete(uint32_t mark) noexcept;
  uint32_t newest() const { return added_.load(std::memory_order_acquire); }
  bool isDone(uint32_t mark) const { return isReached(completed_.load(std::memory_order_acquire), mark); }
  bool wasAdded() const { return wasAdded_.load(std::memory_order_relaxed); }
  // Throws if the mark belongs to the parent process.
  void waitFor(uint32_t mark) const;
  int64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

 private:
  static bool isReached(uint32_t completed, uint32_t mark) { return static_cast<int32_t>(completed - mark) >= 0; }

  std::atomic<uint32_t> added_{0};
  std::atomic<uint32_t> completed_{0};
  mutable std::atomic<uint32_t> waiters_{0};
  std::atomic<int64_t> nanoseconds_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<bool> wasAdded_{false};
};

class CpuEvent final : public MaxEvent {
 public:
  CpuEvent(Ref<MaxDevice> device, bool timing);

  void synchronize() const override { marks_->waitFor(marks_->newest()); }
  bool isReady() const override { return marks_->isDone(marks_->newest()); }
  int64_t elapsedSince(const MaxEvent& start) const override;
  std::unique_ptr<StreamTask> waitTask() const override;
  const Ref<CpuMarks>& marks() const { return marks_; }

 private:
  int64_t requireTime(const char* which) const;

  Ref<CpuMarks> marks_;
};

}  // namespace max
