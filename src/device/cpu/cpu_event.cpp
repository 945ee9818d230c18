// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_event.h"

#include <ctime>

#include "base/active_call.h"
#include "base/fork.h"
#include "base/futex.h"
#include "device/device.h"

namespace max {

namespace {

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

class Waiting {
 public:
  explicit Waiting(std::atomic<uint32_t>& waiters) : waiters_(waiters) {
    waiters_.fetch_add(1, std::memory_order_seq_cst);
  }
  ~Waiting() { waiters_.fetch_sub(1, std::memory_order_relaxed); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::atomic<uint32_t>& waiters_;
};

}  // namespace

uint32_t CpuMarks::add() {
  generation_.store(forkGeneration(), std::memory_order_relaxed);
  wasAdded_.store(true, std::memory_order_relaxed);
  return added_.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void CpuMarks::complete(uint32_t mark) noexcept {
  uint32_t done = completed_.load(std::memory_order_acquire);
  if (isReached(done, mark)) return;
  nanoseconds_.store(now(), std::memory_order_relaxed);
  while (!isReached(done, mark) && !completed_.compare_exchange_weak(done, mark, std::memory_order_seq_cst)) {
  }
  if (waiters_.load(std::memory_order_seq_cst) != 0) futexWakeAll(completed_);
}

void CpuMarks::waitFor(uint32_t mark) const {
  if (isDone(mark)) return;
  require(generation_.load(std::memory_order_relaxed) == forkGeneration(), MAX_STATUS_FAILED_PRECONDITION,
          "Event is recorded on a stream of another process: forked");
  const ActiveCall* call = activeCall();
  const Interrupt* interrupt = call ? call->interrupt : nullptr;
  const Waiting waiting(waiters_);
  uint32_t done = completed_.load(std::memory_order_seq_cst);
  while (!isReached(done, mark)) {
    if (interrupt) interrupt->check();
    futexWait(completed_, done, interrupt ? interruptPeriod(*interrupt) : 0);
    done = completed_.load(std::memory_order_acquire);
  }
}

CpuEvent::CpuEvent(Ref<MaxDevice> device, bool timing)
    : MaxEvent(std::move(device), timing), marks_(makeRef<CpuMarks>()) {}

std::unique_ptr<StreamTask> CpuEvent::waitTask() const {
  return makeWaitTask([marks = marks_, mark = marks_->newest()] { marks->waitFor(mark); });
}

int64_t CpuEvent::requireTime(const char* which) const {
  require(timing(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event was created without timing");
  require(marks_->wasAdded(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event was never recorded");
  require(isReady(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event is not done yet");
  return marks_->nanoseconds();
}

int64_t CpuEvent::elapsedSince(const MaxEvent& start) const {
  const int64_t begin = static_cast<const CpuEvent&>(start).requireTime("start");
  return requireTime("end") - begin;
}

}  // namespace max
