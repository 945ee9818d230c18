// SPDX-License-Identifier: Apache-2.0
// Work for the host in the order of a driver's stream.
//
// A driver calls host functions on its own thread, where driver calls are not allowed. Ours may make some, so the
// driver's thread only waits for a worker that runs them.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "device/gpu/host_gate.h"
#include "device/stream.h"

namespace max::gpu {

class HostCall;

// Shared by a stream of a device and its host work; it lives until both are gone.
class HostQueue final : public RefCounted {
 public:
  explicit HostQueue(Ref<GatedDevice> device);
  ~HostQueue() override;

  // Throws the failure of earlier host work.
  void check() const;
  // The same, and clears the failure.
  void throwFailureOnce();
  // Whether this thread runs host work of this stream.
  bool isRunningHere() const;
  bool isEmpty() const;

  // The argument for the driver's host function `run`, to be used once. Waits while the driver's HostGate is closed.
  void* add(std::unique_ptr<StreamTask> task);
  static void run(void* call);
  // The driver did not accept it; the task is dropped without running.
  void cancel(void* call);
  // The driver will not run anything any more: runs all waiting tasks, with the device's loss as the earlier failure.
  void abandon() noexcept;

 private:
  friend class HostCall;
  bool claim(const HostCall& call);
  void perform(StreamTask& task, const Error* loss);
  std::optional<Error> earlierFailure() const;

  const Ref<GatedDevice> device_;
  mutable std::mutex mutex_;
  std::deque<Ref<HostCall>> waiting_;
  std::optional<Error> failure_;
  std::atomic<bool> hasFailed_{false};  // like failure_, for readers without the mutex
};

// Calls `function(argument)` after the host function that this thread runs has returned.
void afterHostFunction(void (*function)(void*), void* argument);

}  // namespace max::gpu
