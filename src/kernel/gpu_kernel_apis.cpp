// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_kernel_api.h"

namespace max {

extern const GpuKernelApi kCudaKernels;
extern const GpuKernelApi kHipKernels;

namespace {

constexpr const GpuKernelApi* kApis[] = {&kCudaKernels, &kHipKernels};

}  // namespace

std::span<const GpuKernelApi* const> gpuKernelApis() { return kApis; }

}  // namespace max
