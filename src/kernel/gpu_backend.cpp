// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_backend.h"

#include <deque>

#include "base/error.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/strided_kernel.h"
#include "kernel/cached_compile.h"
#include "kernel/gpu_code.h"
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

namespace max::gpu {

namespace {

constexpr const char* kName = "max_copy_strided";
constexpr const char* kSource = R"(
struct Dimension {
  unsigned long long size;
  long long target;
  long long source;
};

struct Layout {
  unsigned long long count;
  int unit;
  int rank;
  Dimension dims[18];
};

extern "C" __global__ void max_copy_strided(char* target, const char* source, Layout layout) {
  const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
  unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < layout.count; i += threads) {
    unsigned long long left = i;
    long long to = 0;
    long long from = 0;
    for (int d = 0; d < layout.rank; ++d) {
      const unsigned long long rest = left / layout.dims[d].size;
      const long long at = (long long)(left - rest * layout.dims[d].size);
      to += at * layout.dims[d].target;
      from += at * layout.dims[d].source;
      left = rest;
    }
    if (layout.unit == 8)
      *(unsigned long long*)(target + to) = *(const unsigned long long*)(source + from);
    else if (layout.unit == 4)
      *(unsigned int*)(target + to) = *(const unsigned int*)(source + from);
    else if (layout.unit == 2)
      *(unsigned short*)(target + to) = *(const unsigned short*)(source + from);
    else
      target[to] = source[from];
  }
}
)";
static_assert(sizeof(StridedLayout) == 16 + 18 * 24, "as the source has it");

Ref<StridedKernel> compile(GpuDevice& device) {
  const KernelBackend* found = gpuKernels(device.api());
  require(found != nullptr, MAX_STATUS_UNIMPLEMENTED, "Devices of API '", device.api(), "' do not run kernels");
  const KernelBackend& backend = *found;
  KernelSource source;
  source.name = "strided_copy.cu";
  source.text = kSource;
  const KernelCompiler& compiler = backend.compiler();
  backend.aim(source, device);
  const CompiledCode compiled = compileCached(compiler, source, compiler.executableKind(source));
  const Ref<GpuCode> code = makeRef<GpuCode>(device.sharedContext(), source.name, compiled.bytes, std::string());
  void* function = nullptr;
  device.context().call(device.context().driver().moduleGetFunction, &function, code->handle(), kName);
  return makeRef<StridedKernel>(code, function);
}

}  // namespace

// Copies are possible without it, if more slowly.
Ref<StridedKernel> makeStridedKernel(GpuDevice& device) {
  try {
    return compile(device);
  } catch (const Error& error) {
    if (error.status() == MAX_STATUS_RESOURCE_EXHAUSTED) throw;  // the next copy may have more luck
    return nullptr;
  }
}

}  // namespace max::gpu
