// SPDX-License-Identifier: Apache-2.0
// Context that a C API call sets for all work on its behalf, in any thread: how to stop it, which account its memory
// comes from, where it logs, who is told its progress, how many threads it may use. Most calls of models set none.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/absent_lanes.h"
#include "base/clock.h"
#include "base/function_ref.h"
#include "base/memory_account.h"

namespace max {

class RunMonitor;  // of the executor
class PackedMemory;

// How a call can be stopped from outside.
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

// Receives the progress of a load.
class ProgressReceiver {
 public:
  virtual void report(double fraction, const char* phase) = 0;

 protected:
  ~ProgressReceiver() = default;
};

struct ActiveCall {
  const Interrupt* interrupt = nullptr;
  MemoryAccount* memory = nullptr;  // charged by allocateStorage
  RunMonitor* monitor = nullptr;
  ProgressReceiver* progress = nullptr;
  int32_t logLevel = 0;            // MaxLogLevel
  bool mayTrim = true;             // false while holding a lock that owners of kept memory need
  PackedMemory* packed = nullptr;  // for the weights that it packs
  int lanes = INT_MAX;             // that each of its loops may use
};

// This thread's, NULL if there is none. Pool threads have that of the loop they help with.
const ActiveCall* activeCall() noexcept;

// The account of the active call, NULL if there is none.
inline MemoryAccount* activeMemory() noexcept {
  const ActiveCall* call = activeCall();
  return call ? call->memory : nullptr;
}

// Interval at which waits check whether the active call has been stopped.
int64_t interruptPeriod(const Interrupt& interrupt) noexcept;

// What a thread works at.
struct ThreadWork {
  enum class Run : uint8_t { None, Uncounted, Counted };

  const ActiveCall* call = nullptr;
  Run run = Run::None;  // whether a run of a model, and whether that counts among the runs with loops
  uint8_t place = 0;    // of one that counts
  RunClock clock;       // of one that counts
};
ThreadWork& threadWork() noexcept;

// Among the runs that count.
struct RunRank {
  int runs = 1;
  int before = 0;  // so many of them are served first
};

class ActiveCallScope {
 public:
  explicit ActiveCallScope(const ActiveCall* call) noexcept : thread_(threadWork()), before_(thread_.call) {
    thread_.call = call;
  }
  ~ActiveCallScope() { thread_.call = before_; }
  ActiveCallScope(const ActiveCallScope&) = delete;
  ActiveCallScope& operator=(const ActiveCallScope&) = delete;

 protected:
  ThreadWork& thread_;  // found once, since a shared library finds it by a call

 private:
  const ActiveCall* before_;
};

// That of a run of a model. Its loops share the processors with those of other runs (base/thread_pool.h), so that runs
// count, from their first loop on. A run within another one is a part of it.
class RunScope : public ActiveCallScope {
 public:
  explicit RunScope(const ActiveCall* call) noexcept
      : ActiveCallScope(call), isOutermost_(thread_.run == ThreadWork::Run::None) {
    if (isOutermost_) thread_.run = ThreadWork::Run::Uncounted;
  }
  ~RunScope() {
    if (!isOutermost_) return;
    if (thread_.run == ThreadWork::Run::Counted) discount();
    thread_.run = ThreadWork::Run::None;
  }

  // Counts this thread's run, if it has one.
  static RunRank countThis() noexcept;
  static void forgetOthers() noexcept;  // in a forked child

 private:
  static void discount() noexcept;

  bool isOutermost_;
};

// For long work between steps: throws if the active call was stopped.
void checkInterrupt();
// Polls for something. Throws if the interrupt comes first.
void pollUntilDone(const Interrupt& interrupt, FunctionRef<bool()> isDone);
// Reports `fraction` to the active call's receiver, if there is one.
void reportProgress(double fraction, const char* phase);

}  // namespace max
