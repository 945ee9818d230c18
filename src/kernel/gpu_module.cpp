// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_module.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "device/gpu/host_queue.h"
#include "device/gpu/memory_source.h"
#include "kernel/amd_parameters.h"
#include "kernel/gpu_backend.h"
#include "kernel/gpu_kernel.h"
#include "kernel/ptx_parameters.h"

namespace max {

namespace {

constexpr int kNotFound = 500;
// Answers to code that is none, or none for this device; CUDA and HIP share them.
constexpr int kCodeErrors[] = {1, 200, 209, 218, 222, 301, 302};
constexpr size_t kLogBytes = 8192;
// CUjit_option.
constexpr int kErrorLogBuffer = 5;
constexpr int kErrorLogSize = 6;

bool isCodeError(int error) {
  return std::find(std::begin(kCodeErrors), std::end(kCodeErrors), error) != std::end(kCodeErrors);
}

void requireModules(const gpu::Context& context) {
  const gpu::Driver& driver = context.driver();
  require(driver.moduleLoad && driver.moduleUnload && driver.moduleGetFunction && driver.launch,
          MAX_STATUS_UNIMPLEMENTED, "The driver of ", context.displayName(), " cannot load kernels");
}

// A driver refuses what a newer compiler makes.
std::string versionsOf(const gpu::Context& context, bool isCompiled) {
  if (!isCompiled || context.api() != gpu::Api::Cuda) return {};
  const std::string compiler = cudaKernels().compiler().identity();
  const int version = context.driver().version;
  return concat(" (compiled by ", compiler.substr(0, compiler.find(' ', compiler.find(' ') + 1)),
                "; the driver is for CUDA ", version / 1000, ".", version % 1000 / 10, ")");
}

[[noreturn]] void failLoading(const gpu::Context& context, const std::string& name, bool isCompiled, int error,
                              const char* log) {
  invalidArgument("The code of ", name, " cannot be loaded on ", context.displayName(), ": ",
                  context.driver().moduleLoad.name, ": ", context.driver().errorName(error),
                  versionsOf(context, isCompiled), *log ? "\n" : "", log);
}

}  // namespace

GpuCode::GpuCode(Ref<gpu::Context> context, const std::string& name, const std::string& code, bool isCompiled)
    : context_(std::move(context)) {
  requireModules(*context_);
  std::string log(kLogBytes, '\0');
  int options[] = {kErrorLogBuffer, kErrorLogSize};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const auto& load = context_->driver().moduleLoad;
  // HIP compiles nothing here, and has other numbers for the options.
  const unsigned optionCount = context_->api() == gpu::Api::Cuda ? 2 : 0;
  const int error = context_->query(load, &handle_, code.data(), optionCount, options, values);
  if (error == gpu::kSuccess) return;
  if (isCodeError(error)) failLoading(*context_, name, isCompiled, error, log.c_str());
  context_->fail(load.name, error);
}

// Drivers wait for the device when they unload code, and a device waits for its host functions.
GpuCode::~GpuCode() {
  struct Loaded {
    Ref<gpu::Context> context;
    void* handle;
    void unload() const { context->tryCall(context->driver().moduleUnload, handle); }
  };
  const Loaded loaded{std::move(context_), handle_};
  auto* later = gpu::isInHostFunction() ? new (std::nothrow) Loaded(loaded) : nullptr;
  if (later)
    gpu::afterHostFunction([](void* code) { std::unique_ptr<Loaded>(static_cast<Loaded*>(code))->unload(); }, later);
  else
    loaded.unload();
}

GpuModule::GpuModule(gpu::GpuDevice& device, ModuleContent content)
    : MaxModule(Ref<MaxDevice>(&device), std::move(content)),
      gpuDevice_(device),
      code_(makeRef<GpuCode>(device.sharedContext(), name(), code(), isCompiled())) {}

// Launches may still be queued. Nobody waits for them here: the device lets go of the code when they are done.
GpuModule::~GpuModule() {
  const uint64_t uses = uses_.load(std::memory_order_acquire);
  if (uses == 0 || gpu::isCutOffByFork()) return;
  if (context().isLost()) {  // it may seem so only
    finishCode();
    return;
  }
  try {
    std::vector<Ref<gpu::StreamMark>> marks;
    gpu::streamTableOf(context().api())->mark(uses, marks);
    gpuDevice_.inFlight().keep(code_, std::move(marks));
  } catch (...) {
    finishCode();
  }
}

// Without a mark nobody knows when the code is free, unless all work is done. The device waits for host functions, so
// one of them cannot wait for the device: the code then stays for ever.
void GpuModule::finishCode() noexcept {
  if (gpu::isInHostFunction())
    static_cast<void>(code_.detach());
  else
    context().tryCall(context().driver().deviceSynchronize);
}

std::unique_ptr<MaxKernel> GpuModule::findKernel(const std::string& name) {
  const auto& getFunction = context().driver().moduleGetFunction;
  void* function = nullptr;
  const int error = context().query(getFunction, &function, code_->handle(), name.c_str());
  if (error == kNotFound) failKernel(name);
  if (error != gpu::kSuccess) context().fail(getFunction.name, error);
  return std::make_unique<GpuKernel>(*this, gpuDevice_, name, function);
}

std::optional<std::vector<size_t>> GpuModule::parameterSizes(const std::string& kernel, void* function) const {
  const auto& getParameter = context().driver().cudaFunctionGetParameter;
  if (!getParameter)  // each finds nothing in code of another kind
    return context().api() == gpu::Api::Cuda ? ptxParameterSizes(code(), kernel) : amdParameterSizes(code(), kernel);
  std::vector<size_t> sizes;
  size_t offset = 0, bytes = 0;
  int error = gpu::kSuccess;
  while ((error = context().query(getParameter, function, sizes.size(), &offset, &bytes)) == gpu::kSuccess)
    sizes.push_back(bytes);
  if (error != gpu::kInvalidValue) context().fail(getParameter.name, error);  // else there is no such parameter
  return sizes;
}

GpuModule::Variable GpuModule::variable(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = variables_.find(name); known != variables_.end()) return known->second;
  const auto& getGlobal = context().driver().moduleGetGlobal;
  require(bool{getGlobal}, MAX_STATUS_UNIMPLEMENTED, "The driver of ", context().displayName(),
          " does not tell where variables are");
  Variable found;
  const int error = context().query(getGlobal, &found.address, &found.bytes, code_->handle(), name.c_str());
  if (error == kNotFound) failVariable(name);
  if (error != gpu::kSuccess) context().fail(getGlobal.name, error);
  return variables_.emplace(name, found).first->second;
}

// The bytes travel through memory that stays until they have arrived.
void GpuModule::setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) {
  const Variable target = variable(name);
  checkVariable(name, target.bytes, bytes);
  if (bytes == 0) return;
  const Ref<Storage> staged = gpuDevice_.allocate(bytes, {.pinned = true}, stream);
  std::memcpy(staged->data(), data, bytes);
  stream.copy({target.address, nullptr}, {staged->data(), staged}, bytes, MAX_COPY_KIND_HOST_TO_DEVICE);
  noteUse(static_cast<gpu::GpuStream&>(stream).ordered());
}

}  // namespace max
