// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/host_gate.h"

#include <algorithm>
#include <chrono>

namespace max::gpu {

namespace {

// How long a new host function makes way for a call that waits for those before it. Not longer: those may wait for the
// thread that queues it.
constexpr std::chrono::milliseconds kPatience(2);

thread_local int hostFunctions = 0;

}  // namespace

bool isInHostFunction() { return hostFunctions > 0; }

HostFunctionScope::HostFunctionScope() { ++hostFunctions; }
HostFunctionScope::~HostFunctionScope() { --hostFunctions; }

bool HostGate::isEmpty() const {
  return std::ranges::all_of(devices_, [](const GatedDevice* each) { return each->queued_ == 0 || each->isLost_; });
}

bool HostGate::isBusy() {
  const std::lock_guard lock(mutex_);
  return !isEmpty();
}

HostGate::Closed::Closed(HostGate& gate) : gate_(isInHostFunction() ? nullptr : &gate) {
  if (!gate_) return;
  std::unique_lock lock(gate_->mutex_);
  ++gate_->waiting_;
  gate_->changed_.wait(lock, [this] { return gate_->isEmpty(); });
  --gate_->waiting_;
  ++gate_->closed_;
  if (gate_->waiting_ == 0) gate_->changed_.notify_all();
}

HostGate::Closed::~Closed() {
  if (!gate_) return;
  const std::lock_guard lock(gate_->mutex_);
  if (--gate_->closed_ == 0) gate_->changed_.notify_all();
}

GatedDevice::GatedDevice(Ref<HostGate> gate) : gate_(std::move(gate)) {
  const std::lock_guard lock(gate_->mutex_);
  gate_->devices_.push_back(this);
}

GatedDevice::~GatedDevice() {
  const std::lock_guard lock(gate_->mutex_);
  std::erase(gate_->devices_, this);
}

void GatedDevice::enter() {
  std::unique_lock lock(gate_->mutex_);
  if (gate_->waiting_ > 0 && !isInHostFunction())
    gate_->changed_.wait_for(lock, kPatience, [this] { return gate_->waiting_ == 0; });
  gate_->changed_.wait(lock, [this] { return gate_->closed_ == 0; });
  ++queued_;
}

void GatedDevice::leave() noexcept {
  const std::lock_guard lock(gate_->mutex_);
  if (--queued_ == 0 && gate_->waiting_ > 0) gate_->changed_.notify_all();
}

void GatedDevice::noteLost() noexcept {
  const std::lock_guard lock(gate_->mutex_);
  isLost_ = true;
  gate_->changed_.notify_all();
}

}  // namespace max::gpu
