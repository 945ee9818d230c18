// SPDX-License-Identifier: Apache-2.0
// Modules of accelerators, of all APIs behind one source.
#pragma once

#include <map>
#include <mutex>

#include "device/gpu/gpu_device.h"
#include "kernel/gpu_code.h"
#include "kernel/gpu_kernel_api.h"
#include "kernel/module.h"

namespace max {

class GpuModule final : public MaxModule {
 public:
  GpuModule(gpu::GpuDevice& device, ModuleContent content, const GpuKernelApi& api);
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

  const GpuKernelApi& api_;
  gpu::GpuDevice& gpuDevice_;
  Ref<GpuCode> code_;
  std::mutex mutex_;
  std::map<std::string, Variable> variables_;
};

}  // namespace max
