// SPDX-License-Identifier: Apache-2.0
// Modules and kernels of accelerators: CUDA's and HIP's behind one source.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "device/gpu/gpu_device.h"
#include "kernel/module.h"

namespace max {

// What a driver has loaded.
class GpuCode final : public RefCounted {
 public:
  // INVALID_ARGUMENT with the driver's log if it refuses the code.
  GpuCode(Ref<gpu::Context> context, const std::string& name, const std::string& code, bool isCompiled);
  ~GpuCode() override;

  const gpu::Context& context() const { return *context_; }
  void* handle() const { return handle_; }

 private:
  Ref<gpu::Context> context_;
  void* handle_ = nullptr;
};

class GpuModule final : public MaxModule {
 public:
  GpuModule(gpu::GpuDevice& device, ModuleContent content);
  ~GpuModule() override;

  void setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) override;

  const gpu::Context& context() const { return code_->context(); }
  // Sizes of a kernel's parameters; none if neither the driver nor the code tells.
  std::optional<std::vector<size_t>> parameterSizes(const std::string& kernel, void* function) const;
  // Work that runs the code was queued: it stays loaded until the work is done.
  void noteUse(const gpu::OrderedStream& stream) {
    const uint64_t bit = stream.bit();
    if (!(uses_.load(std::memory_order_relaxed) & bit)) uses_.fetch_or(bit, std::memory_order_relaxed);
  }

 protected:
  std::unique_ptr<MaxKernel> findKernel(const std::string& name) override;

 private:
  struct Variable {
    void* address = nullptr;
    size_t bytes = 0;
  };
  Variable variable(const std::string& name);
  void finishCode() noexcept;

  gpu::GpuDevice& gpuDevice_;
  Ref<GpuCode> code_;
  std::atomic<uint64_t> uses_{0};
  std::mutex mutex_;
  std::map<std::string, Variable> variables_;
};

}  // namespace max
