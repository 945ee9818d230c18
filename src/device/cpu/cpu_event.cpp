// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_event.h"

#include <ctime>

#include "base/fork.h"
#include "device/device.h"

namespace max {

namespace {

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

uint64_t CpuMarks::add() {
  generation_.store(forkGeneration(), std::memory_order_relaxed);
  return added_.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void CpuMarks::complete(uint64_t mark) noexcept {
  uint64_t done = completed_.load(std::memory_order_acquire);
  if (done >= mark) return;
  nanoseconds_.store(now(), std::memory_order_relaxed);
  while (done < mark && !completed_.compare_exchange_weak(done, mark, std::memory_order_acq_rel)) {
  }
  completed_.notify_all();
}

void CpuMarks::waitFor(uint64_t mark) const {
  uint64_t done = completed_.load(std::memory_order_acquire);
  while (done < mark) {
    require(generation_.load(std::memory_order_relaxed) == forkGeneration(), MAX_STATUS_FAILED_PRECONDITION,
            "Event is recorded on a stream of another process: forked");
    completed_.wait(done, std::memory_order_acquire);
    done = completed_.load(std::memory_order_acquire);
  }
}

CpuEvent::CpuEvent(Ref<MaxDevice> device, bool timing)
    : MaxEvent(std::move(device), timing), marks_(makeRef<CpuMarks>()) {}

int64_t CpuEvent::requireTime(const char* which) const {
  require(timing(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event was made without timing");
  require(marks_->newest() > 0, MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event was never recorded");
  require(isReady(), MAX_STATUS_FAILED_PRECONDITION, "The ", which, " event is not done yet");
  return marks_->nanoseconds();
}

int64_t CpuEvent::elapsedSince(const MaxEvent& start) const {
  const int64_t begin = static_cast<const CpuEvent&>(start).requireTime("start");
  return requireTime("end") - begin;
}

}  // namespace max
