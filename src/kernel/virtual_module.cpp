// SPDX-License-Identifier: Apache-2.0
#include "kernel/virtual_module.h"

namespace max {

VirtualModule::VirtualModule(const gpu::VirtualDevice& device, ModuleContent content)
    : MaxModule(Ref<MaxDevice>(const_cast<gpu::VirtualDevice*>(&device)), std::move(content)), virtualDevice_(device) {}

void VirtualModule::setConstant(const std::string&, const void*, size_t, MaxStream&) { virtualDevice_.refuse(); }

std::unique_ptr<MaxKernel> VirtualModule::findKernel(const std::string&) { virtualDevice_.refuse(); }

}  // namespace max
