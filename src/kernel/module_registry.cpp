// SPDX-License-Identifier: Apache-2.0
#include "kernel/module_registry.h"

#include "base/error.h"
#include "kernel/cached_compile.h"
#include "kernel/cpu_module.h"
#include "kernel/gpu_backend.h"

namespace max {

const KernelBackend& kernelBackend(std::string_view api) {
  if (api == "cpu") return cpuKernels();
  if (const KernelBackend* backend = gpuKernels(api)) return *backend;
  fail(MAX_STATUS_UNIMPLEMENTED, "Devices of API '", api, "' do not run kernels");
}

Ref<MaxModule> compileModule(MaxDevice& device, KernelSource source) {
  const KernelBackend& backend = kernelBackend(device.api());
  const KernelCompiler& compiler = backend.compiler();
  backend.aim(source, device);
  ModuleContent content;
  content.kind = compiler.executableKind(source);
  CompiledCode code = compileCached(compiler, source, content.kind);
  content.compiler = &compiler;
  content.source = std::move(source);
  content.code = std::move(code.bytes);
  content.log = std::move(code.log);
  return backend.load(device, std::move(content));
}

Ref<MaxModule> loadModule(MaxDevice& device, std::string_view code) {
  const KernelBackend& backend = kernelBackend(device.api());
  ModuleContent content;
  content.kind = backend.kindOf(code);
  content.code = code;
  return backend.load(device, std::move(content));
}

}  // namespace max
