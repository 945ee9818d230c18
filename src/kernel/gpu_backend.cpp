// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_backend.h"

#include <deque>

#include "kernel/gpu_kernel_api.h"
#include "kernel/gpu_module.h"
#include "kernel/virtual_module.h"

namespace max {

namespace {

class GpuBackend final : public KernelBackend {
 public:
  explicit GpuBackend(const GpuKernelApi& api) : api_(api) {}

  std::string_view api() const { return api_.api; }
  const KernelCompiler& compiler() const override { return api_.compiler(); }
  void aim(KernelSource& source, const MaxDevice& device) const override {
    const bool isHere = dynamic_cast<const gpu::VirtualDevice*>(&device) == nullptr;
    if (isHere) source.driverVersion = device.driverVersion();
    if (!source.architecture.empty()) return;
    source.architecture = device.architectureName();
    if (isHere) source.architecture = compiler().exactArchitecture(source);
  }
  MaxArtifactKind kindOf(std::string_view code) const override { return api_.kindOf(code); }
  Ref<MaxModule> load(MaxDevice& device, ModuleContent content) const override {
    if (const auto* missing = dynamic_cast<const gpu::VirtualDevice*>(&device))
      return makeRef<VirtualModule>(*missing, std::move(content));
    return makeRef<GpuModule>(static_cast<gpu::GpuDevice&>(device), std::move(content), api_);
  }

 private:
  const GpuKernelApi& api_;
};

std::deque<GpuBackend> backendsOfAll() {
  std::deque<GpuBackend> backends;
  for (const GpuKernelApi* api : gpuKernelApis()) backends.emplace_back(*api);
  return backends;
}

}  // namespace

const KernelBackend* gpuKernels(std::string_view api) {
  // Never destroyed: modules may be loaded while the process exits.
  static const auto& backends = *new std::deque<GpuBackend>(backendsOfAll());
  for (const GpuBackend& backend : backends)
    if (backend.api() == api) return &backend;
  return nullptr;
}

}  // namespace max
