// SPDX-License-Identifier: Apache-2.0
// Keeps host functions apart from driver calls that wait for devices.
//
// A driver that takes memory back or unloads code may wait for all work, and hold locks meanwhile that its other
// functions need. A host function that calls such a function would wait for its own end. So those calls begin when no
// host function is queued, and none is queued until they have returned.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/ref.h"

namespace max::gpu {

class GatedDevice;

// Of all devices of one driver.
class HostGate final : public RefCounted {
 public:
  // Whether host functions are queued now: the gate cannot close at once.
  bool isBusy();

  // While it lives no host function is queued, except on a lost device, which may never run it. Does nothing in a host
  // function.
  class Closed {
   public:
    explicit Closed(HostGate& gate);
    ~Closed();
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    HostGate* gate_;
  };

 private:
  friend class GatedDevice;
  bool isEmpty() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<GatedDevice*> devices_;  // leave before they go
  int waiting_ = 0;                    // for the gate to close
  int closed_ = 0;
};

class GatedDevice final : public RefCounted {
 public:
  explicit GatedDevice(Ref<HostGate> gate);
  ~GatedDevice() override;

  // A host function is about to be queued. Waits while the gate is closed.
  void enter();
  // It has run, or never will.
  void leave() noexcept;
  void noteLost() noexcept;

 private:
  friend class HostGate;
  const Ref<HostGate> gate_;
  // Guarded by the gate.
  int queued_ = 0;
  bool isLost_ = false;
};

// Whether this thread runs host work of a stream.
bool isInHostFunction();

// While it lives, this thread does.
class HostFunctionScope {
 public:
  HostFunctionScope();
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

}  // namespace max::gpu
