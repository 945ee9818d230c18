// SPDX-License-Identifier: Apache-2.0
// The code of a module as a driver has loaded it.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "device/gpu/allocator_streams.h"
#include "device/gpu/driver.h"

namespace max {

// A loaded driver module.
class GpuCode final : public RefCounted {
 public:
  // `compiler` made the code; empty = it was loaded. INVALID_ARGUMENT with the driver's log if it rejects the code,
  // UNAVAILABLE if the driver is too old for it.
  GpuCode(Ref<gpu::Context> context, const std::string& name, const std::string& code, const std::string& compiler);
  ~GpuCode() override;

  const gpu::Context& context() const { return *context_; }
  void* handle() const { return handle_; }
  // Work that runs the code was queued: it stays loaded until the work is done.
  void noteUse(const gpu::OrderedStream& stream) {
    const uint64_t bit = stream.bit();
    if (!(uses_.load(std::memory_order_relaxed) & bit)) uses_.fetch_or(bit, std::memory_order_relaxed);
  }
  // The streams of that work, as bits.
  uint64_t uses() const { return uses_.load(std::memory_order_acquire); }

 private:
  explicit GpuCode(Ref<gpu::Context> context) : context_(std::move(context)) {}
  int load(const std::string& code, std::string& log);
  int loadFunctions() const;

  Ref<gpu::Context> context_;
  void* handle_ = nullptr;
  std::atomic<uint64_t> uses_{0};
};

}  // namespace max
