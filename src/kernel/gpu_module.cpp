// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_module.h"

#include <cstring>

#include "kernel/gpu_kernel.h"

namespace max {

namespace {

constexpr int kNotFound = 500;

}  // namespace

GpuModule::GpuModule(gpu::GpuDevice& device, ModuleContent content, const GpuKernelApi& api)
    : MaxModule(Ref<MaxDevice>(&device), std::move(content)),
      api_(api),
      gpuDevice_(device),
      code_(makeRef<GpuCode>(device.sharedContext(), name(), code(), compilerName())) {}

// Launches may still be queued: the device releases the code when they are done.
GpuModule::~GpuModule() { gpuDevice_.parts().keepUntilDone(code_, code_->uses()); }

std::unique_ptr<MaxKernel> GpuModule::findKernel(const std::string& name) {
  const auto& getFunction = context().driver().moduleGetFunction;
  void* function = nullptr;
  const int error = context().query(getFunction, &function, code_->handle(), name.c_str());
  if (error == kNotFound) failKernel(name);
  if (error != gpu::kSuccess) context().fail(getFunction.name, error);
  return std::make_unique<GpuKernel>(*this, *code_, gpuDevice_, name, function, parameterSizes(name, function));
}

std::optional<std::vector<size_t>> GpuModule::parameterSizes(const std::string& kernel, void* function) const {
  const auto& getParameter = context().driver().functionGetParameter;
  if (!getParameter) return api_.parameterSizes(code(), kernel);
  std::vector<size_t> sizes;
  size_t offset = 0, bytes = 0;
  int error = gpu::kSuccess;
  while ((error = context().query(getParameter, function, sizes.size(), &offset, &bytes)) == gpu::kSuccess)
    sizes.push_back(bytes);
  if (error != gpu::kInvalidValue) context().fail(getParameter.name, error);  // otherwise there is no such parameter
  return sizes;
}

GpuModule::Variable GpuModule::variable(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = variables_.find(name); known != variables_.end()) return known->second;
  }
  const auto& getGlobal = context().driver().moduleGetGlobal;
  require(bool{getGlobal}, MAX_STATUS_UNIMPLEMENTED, "The driver of ", context().displayName(),
          " does not report addresses of variables");
  Variable found;
  const int error = context().query(getGlobal, &found.address, &found.bytes, code_->handle(), name.c_str());
  if (error == kNotFound) failVariable(name);
  if (error != gpu::kSuccess) context().fail(getGlobal.name, error);
  const std::lock_guard lock(mutex_);
  return variables_.emplace(name, found).first->second;
}

// The bytes are copied through memory that is kept until the copy is done.
void GpuModule::setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) {
  const Variable target = variable(name);
  checkVariable(name, target.bytes, bytes);
  if (bytes == 0) return;
  stream.requireUncaptured("Setting a constant");
  const Ref<Storage> staged = gpuDevice_.allocate(bytes, {.pinned = true}, stream);
  std::memcpy(staged->data(), data, bytes);
  stream.copy({target.address, nullptr}, {staged->data(), staged}, bytes, MAX_COPY_KIND_HOST_TO_DEVICE);
  code_->noteUse(static_cast<gpu::GpuStream&>(stream).ordered());
}

}  // namespace max
