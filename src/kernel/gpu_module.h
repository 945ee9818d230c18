// SPDX-License-Identifier: Apache-2.0
// Modules and kernels on accelerators, for both CUDA and HIP.
#pragma once

#include <map>
#include <mutex>

#include "device/gpu/gpu_device.h"
#include "kernel/gpu_code.h"
#include "kernel/module.h"

namespace max {

class GpuModule final : public MaxModule {
 public:
  GpuModule(gpu::GpuDevice& device, ModuleContent content);
  ~GpuModule() override;

  void setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) override;

 protected:
  std::unique_ptr<MaxKernel> findKernel(const std::string& name) override;

 private:
  struct Variable {
    void* address = nullptr;
    size_t bytes = 0;
  };
  const gpu::Context& context() const { return code_->context(); }
  // Sizes of a kernel's parameters; none if neither the driver nor the code provides them.
  std::optional<std::vector<size_t>> parameterSizes(const std::string& kernel, void* function) const;
  Variable variable(const std::string& name);
  void finishCode() noexcept;

  gpu::GpuDevice& gpuDevice_;
  Ref<GpuCode> code_;
  std::mutex mutex_;
  std::map<std::string, Variable> variables_;
};

}  // namespace max
