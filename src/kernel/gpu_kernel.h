// SPDX-License-Identifier: Apache-2.0
// Kernels of accelerators.
#pragma once

#include "device/gpu/gpu_device.h"
#include "device/gpu/launch.h"
#include "kernel/gpu_code.h"
#include "kernel/module.h"

namespace max {

// A device's support for hints.
struct LaunchHints {
  bool isProgrammatic = false;
  size_t accessBytes = 0;  // maximum window of an access policy
};

class GpuKernel final : public MaxKernel {
 public:
  // `parameters`: their sizes, if they are known. The code is the module's.
  GpuKernel(MaxModule& module, GpuCode& code, gpu::GpuDevice& device, std::string name, void* function,
            std::optional<std::vector<size_t>> parameters);

  int64_t attribute(MaxKernelAttribute attribute) const override;
  void setAttribute(MaxKernelAttribute attribute, int64_t value) override;

 protected:
  void enqueue(const MaxLaunchConfig& config, const LaunchArguments& arguments, MaxStream& stream) override;

 private:
  int driverAttribute(int attribute) const;
  int driverPriority(int32_t priority) const;
  int64_t largestSharedSize() const;
  void launch(const MaxLaunchConfig& config, void** arguments, void* stream) const;
  void launchExtended(const MaxLaunchConfig& config, void** arguments, void* stream) const;
  static void keepBuffers(const LaunchArguments& arguments, gpu::GpuStream& stream);
  void checkThreads(const MaxLaunchConfig& config) const;
  void requireClusters(const MaxLaunchConfig& config) const;

  GpuCode& code_;
  const gpu::Context& context_;
  void* function_;
  int64_t mostShared_ = 0;  // maximum of the limit
  bool hasClusters_ = false;
  LaunchHints hints_;
};

}  // namespace max
