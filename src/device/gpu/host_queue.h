// SPDX-License-Identifier: Apache-2.0
// Work for the host in the order of a driver's stream.
//
// A driver calls host functions on a thread of its own, where no call of the driver is allowed. Ours may make some, so
// the driver's thread only waits for a worker that runs them.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "device/stream.h"

namespace max::gpu {

class HostCall;

// What a stream and its host work share; it lives until both are gone.
class HostQueue final : public RefCounted {
 public:
  HostQueue();
  ~HostQueue() override;

  // Throws the failure of earlier host work.
  void check() const;
  // The same, but the failure is gone then.
  void throwFailureOnce();
  // Whether this thread runs host work of this stream.
  bool isRunningHere() const;
  bool isEmpty() const;

  // What the driver's host function `run` is to be given, once.
  void* add(std::unique_ptr<StreamTask> task);
  static void run(void* call);
  // The driver has not taken it; the task is dropped without having run.
  void cancel(void* call);
  // The driver will run nothing any more: does all that waits, with the device's loss as the earlier failure.
  void abandon() noexcept;

 private:
  friend class HostCall;
  bool claim(const HostCall& call);
  void perform(StreamTask& task, const Error* loss);
  std::optional<Error> earlierFailure() const;

  mutable std::mutex mutex_;
  std::deque<Ref<HostCall>> waiting_;
  std::optional<Error> failure_;
  std::atomic<bool> hasFailed_{false};  // as failure_, for those who look without the mutex
};

// Whether this thread runs host work of a stream.
bool isInHostFunction();
// Calls `function(argument)` after the host function that this thread runs has returned.
void afterHostFunction(void (*function)(void*), void* argument);

}  // namespace max::gpu
