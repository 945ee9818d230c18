// SPDX-License-Identifier: Apache-2.0
// The handle by which another thread stops calls.
#pragma once

#include <atomic>

#include "base/handle.h"
#include "base/ref.h"
#include "max/cancellation.h"

struct MaxCancellation : max::HandleOf<MaxCancellation> {
 public:
  void set(bool cancelled) const noexcept { flag_.store(cancelled, std::memory_order_release); }
  bool isSet() const noexcept { return flag_.load(std::memory_order_acquire); }
  const std::atomic<bool>& flag() const { return flag_; }

 private:
  mutable std::atomic<bool> flag_{false};
};
