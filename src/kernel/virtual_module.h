// SPDX-License-Identifier: Apache-2.0
// A module compiled for a virtual accelerator: it has artefacts but no kernels.
#pragma once

#include "device/gpu/virtual_device.h"
#include "kernel/module.h"

namespace max {

class VirtualModule final : public MaxModule {
 public:
  VirtualModule(const gpu::VirtualDevice& device, ModuleContent content);

  void setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) override;

 protected:
  std::unique_ptr<MaxKernel> findKernel(const std::string& name) override;

 private:
  const gpu::VirtualDevice& virtualDevice_;
};

}  // namespace max
