// SPDX-License-Identifier: Apache-2.0
// What a call of the C API has set up for all that happens on its behalf, in whatever thread: how it may be
// stopped, whose memory it takes, where it logs, who watches. Most calls of models set up nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/function_ref.h"
#include "base/memory_account.h"

namespace max {

class RunMonitor;  // of the executor

// Nanoseconds of a clock that never goes back.
int64_t steadyNanoseconds() noexcept;

// How a call may be stopped from outside.
class Interrupt {
 public:
  Interrupt() = default;
  // `flag`: NULL = cannot be cancelled. `deadline`: nanoseconds from now, 0 = none.
  Interrupt(const std::atomic<bool>* flag, int64_t deadline);

  bool isEmpty() const { return !flag_ && end_ == kNever; }
  bool isDue() const noexcept {
    return (flag_ && flag_->load(std::memory_order_relaxed)) || (end_ != kNever && steadyNanoseconds() >= end_);
  }
  // Nanoseconds until the deadline, INT64_MAX without one.
  int64_t remaining() const noexcept { return end_ == kNever ? kNever : end_ - steadyNanoseconds(); }
  // Throws CANCELLED or DEADLINE_EXCEEDED.
  void check() const {
    if (isDue()) [[unlikely]]
      raise();
  }
  [[noreturn]] void raise() const;

 private:
  static constexpr int64_t kNever = INT64_MAX;

  const std::atomic<bool>* flag_ = nullptr;
  int64_t end_ = kNever;
  int64_t allowed_ = 0;
};

// Told how far a load is.
class ProgressReceiver {
 public:
  virtual void report(double fraction, const char* phase) = 0;

 protected:
  ~ProgressReceiver() = default;
};

struct ActiveCall {
  const Interrupt* interrupt = nullptr;
  MemoryAccount* memory = nullptr;  // takes what allocateStorage gives
  RunMonitor* monitor = nullptr;
  ProgressReceiver* progress = nullptr;
  int32_t logLevel = 0;  // MaxLogLevel
  bool mayTrim = true;   // false while it holds a lock that owners of kept memory need
};

// That of this thread, NULL if there is none. Threads of the pool have the one of the loop that they help with.
const ActiveCall* activeCall() noexcept;

// The account of the active call, NULL if there is none.
inline MemoryAccount* activeMemory() noexcept {
  const ActiveCall* call = activeCall();
  return call ? call->memory : nullptr;
}

// How long a wait may go on before it looks again whether the active call has been stopped.
int64_t interruptPeriod(const Interrupt& interrupt) noexcept;

class ActiveCallScope {
 public:
  explicit ActiveCallScope(const ActiveCall* call) noexcept;
  ~ActiveCallScope();
  ActiveCallScope(const ActiveCallScope&) = delete;
  ActiveCallScope& operator=(const ActiveCallScope&) = delete;

 private:
  const ActiveCall* before_;
};

// For long work between steps: throws if the active call has been stopped.
void checkInterrupt();
// Waits for something that only tells when it is asked. Throws if the interrupt is due before.
void pollUntilDone(const Interrupt& interrupt, FunctionRef<bool()> isDone);
// Tells the active call's receiver, if there is one; `fraction` of the whole.
void reportProgress(double fraction, const char* phase);

}  // namespace max
