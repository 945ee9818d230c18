// SPDX-License-Identifier: Apache-2.0
// Events of the host, on atomics alone, so that a fork cannot leave a lock behind.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/event.h"
#include "device/stream.h"

namespace max {

// The marks of one event; queued work holds it, so that the event's handle can go before.
class CpuMarks final : public RefCounted {
 public:
  // Number of a new mark; complete() says that it is done.
  uint64_t add();
  void complete(uint64_t mark) noexcept;
  uint64_t newest() const { return added_.load(std::memory_order_acquire); }
  bool isDone(uint64_t mark) const { return completed_.load(std::memory_order_acquire) >= mark; }
  // Throws if the mark was left behind by a fork.
  void waitFor(uint64_t mark) const;
  int64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> added_{0};
  std::atomic<uint64_t> completed_{0};
  std::atomic<int64_t> nanoseconds_{0};
  std::atomic<uint32_t> generation_{0};
};

class CpuEvent final : public MaxEvent {
 public:
  CpuEvent(Ref<MaxDevice> device, bool timing);

  void synchronize() const override { marks_->waitFor(marks_->newest()); }
  bool isReady() const override { return marks_->isDone(marks_->newest()); }
  int64_t elapsedSince(const MaxEvent& start) const override;
  const Ref<CpuMarks>& marks() const { return marks_; }

 private:
  int64_t requireTime(const char* which) const;

  Ref<CpuMarks> marks_;
};

}  // namespace max
