// SPDX-License-Identifier: Apache-2.0
// Modules and kernels. An API derives MaxModule and MaxKernel and has a KernelBackend.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "kernel/compiler.h"
#include "max/kernel.h"

namespace max {

// Maximum number of arguments of a launch.
inline constexpr int32_t kMaxKernelArguments = 256;

// Arguments as drivers take them: addresses of values. Lives on a launch's stack, so it is not cleared.
struct LaunchArguments {
  int32_t count = 0;
  int32_t bufferCount = 0;
  void* values[kMaxKernelArguments];
  size_t sizes[kMaxKernelArguments];              // 0 = unknown
  void* addresses[kMaxKernelArguments];           // targets of the `values` of buffers
  const MaxBuffer* buffers[kMaxKernelArguments];  // only the first `bufferCount` are used

  LaunchArguments() {}
};

// Limits that a launch is checked against before it reaches the driver.
struct LaunchLimits {
  int64_t threads = 1024;
  int64_t block[3] = {1024, 1024, 64};
  int64_t grid[3] = {2147483647, 65535, 65535};
};

// The source of a module.
struct ModuleContent {
  // None if it was loaded.
  const KernelCompiler* compiler = nullptr;
  std::optional<KernelSource> source;
  MaxArtifactKind kind = 0;
  std::string code;
  std::string log;
};

}  // namespace max

// A part of its module: references to it are references to the module.
struct MaxKernel {
 public:
  virtual ~MaxKernel() = default;
  MaxKernel(const MaxKernel&) = delete;
  MaxKernel& operator=(const MaxKernel&) = delete;

  MaxModule& module() const { return module_; }
  const std::string& name() const { return name_; }

  virtual int64_t attribute(MaxKernelAttribute attribute) const = 0;
  virtual void setAttribute(MaxKernelAttribute attribute, int64_t value) = 0;

  // Checks, then enqueues; dimensions that are zero become one. `arguments` and `sizes` as in maxKernelLaunch.
  void launch(MaxLaunchConfig& config, const void* const* arguments, const size_t* sizes, int32_t count,
              MaxStream& stream);

 protected:
  MaxKernel(MaxModule& module, std::string name) : module_(module), name_(std::move(name)) {}

  // Sizes of the parameters, if the compiler reports them.
  void setParameters(std::vector<size_t> sizes) { parameters_ = std::move(sizes); }
  const std::optional<std::vector<size_t>>& parameters() const { return parameters_; }
  void setLimits(const max::LaunchLimits& limits) { limits_ = limits; }
  const max::LaunchLimits& limits() const { return limits_; }
  // Current maximum of dynamic shared memory, in bytes.
  int64_t sharedLimit() const { return sharedLimit_.load(std::memory_order_relaxed); }
  void setSharedLimit(int64_t bytes) { sharedLimit_.store(bytes, std::memory_order_relaxed); }
  // Called after all checks. Must copy the values, and keep the module and the buffers' memory until the kernel has
  // run.
  virtual void enqueue(const MaxLaunchConfig& config, const max::LaunchArguments& arguments, MaxStream& stream) = 0;

 private:
  void checkShape(const MaxLaunchConfig& config) const;
  void resolve(max::LaunchArguments& out, const void* const* arguments, const size_t* sizes, int32_t count) const;
  void checkCount(const void* const* arguments, int32_t count) const;
  [[noreturn]] void failKind(int32_t index, max::HandleKind given, bool isBuffer) const;
  [[noreturn]] void failArgument(int32_t index, const void* argument, size_t size, bool isBuffer) const;

  MaxModule& module_;
  std::string name_;
  std::optional<std::vector<size_t>> parameters_;
  max::LaunchLimits limits_;
  std::atomic<int64_t> sharedLimit_{0};
};

struct MaxModule : max::HandleOf<MaxModule> {
 public:
  MaxDevice& device() const { return *device_; }
  // "add.cu", or "module" if it was loaded.
  const std::string& name() const { return name_; }

  // The kernel with this name, created at the first call. Thread-safe.
  MaxKernel& kernel(const std::string& name);
  // Copies `bytes` to the start of a variable in stream order. The data is only valid until this returns.
  virtual void setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) = 0;
  // Borrowed from the module; a NUL follows. Thread-safe.
  const std::string& artifact(MaxArtifactKind kind);
  // What a driver loads.
  const std::string& code() const { return artifacts_.at(kind_); }

 protected:
  MaxModule(max::Ref<MaxDevice> device, max::ModuleContent content);

  // NOT_FOUND if there is none. Thread-safe.
  virtual std::unique_ptr<MaxKernel> findKernel(const std::string& name) = 0;
  [[noreturn]] void failKernel(const std::string& name) const;
  [[noreturn]] void failVariable(const std::string& name) const;
  // OUT_OF_RANGE if it is too small.
  void checkVariable(const std::string& name, size_t size, size_t bytes) const;
  // The name and version of the compiler; empty if it was loaded.
  std::string compilerName() const;

 private:
  max::Ref<MaxDevice> device_;
  std::string name_;
  const max::KernelCompiler* compiler_;
  std::optional<max::KernelSource> source_;
  MaxArtifactKind kind_;
  std::mutex mutex_;
  std::map<MaxArtifactKind, std::string> artifacts_;
  std::map<std::string, std::unique_ptr<MaxKernel>> kernels_;
};

namespace max {

// An API's support for kernels.
class KernelBackend {
 public:
  // UNAVAILABLE, listing what was tried, if there is none, here or when it is used.
  virtual const KernelCompiler& compiler() const = 0;
  // Completes a source for a device: its architecture, if none is given, and the driver that loads the code.
  virtual void aim(KernelSource& source, const MaxDevice& device) const = 0;
  // The form of code to load; INVALID_ARGUMENT if it is not one of this API's.
  virtual MaxArtifactKind kindOf(std::string_view code) const = 0;
  virtual Ref<MaxModule> load(MaxDevice& device, ModuleContent content) const = 0;

 protected:
  ~KernelBackend() = default;
};

}  // namespace max
