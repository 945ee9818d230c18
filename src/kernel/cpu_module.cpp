// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_module.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "base/align.h"
#include "base/thread_pool.h"
#include "kernel/cpu_compiler.h"
#include "kernel/cpu_launch.h"
#include "kernel/cpu_library.h"

namespace max {

namespace {

constexpr int64_t kSharedByDefault = 48 << 10;

// Cached: it reads several files.
int kernelLanes() {
  static const int lanes = defaultLanes();
  return lanes;
}

size_t rounded(size_t bytes) { return alignUp(bytes, 16); }

// Counts queued launches separately from references, and finished ones separately from started ones: different threads
// do these, and a shared counter would bounce between their caches.
class LaunchedModule : public MaxModule {
 public:
  using MaxModule::MaxModule;

  void beginLaunch() noexcept { begun_.fetch_add(1, std::memory_order_relaxed); }
  // Reaches zero only after dispose().
  void endLaunch() noexcept {
    if (ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == 0) delete this;
  }

 protected:
  // Every launch starts with a reference held.
  void dispose() noexcept override {
    const int64_t begun = begun_.load(std::memory_order_relaxed);
    if (ended_.fetch_sub(begun, std::memory_order_acq_rel) == begun) delete this;
  }

 private:
  alignas(64) std::atomic<int64_t> begun_{0};
  alignas(64) std::atomic<int64_t> ended_{0};
};

// A queued launch. The arguments' addresses, the memory they hold and their values follow the object.
class LaunchTask final : public StreamTask {
 public:
  static std::unique_ptr<StreamTask> make(LaunchedModule& module, const CpuLaunch& launch,
                                          const LaunchArguments& arguments) {
    void* memory = takeTaskMemory(sizeOf(arguments));
    return std::unique_ptr<StreamTask>(::new (memory) LaunchTask(module, launch, arguments));
  }

  ~LaunchTask() override {
    for (int32_t i = 0; i < keptCount_; ++i) kept()[i]->release();
    module_.endLaunch();
  }

  void run(const Error*) override { runOnCpu(launch_, kernelLanes()); }

 private:
  LaunchTask(LaunchedModule& module, const CpuLaunch& launch, const LaunchArguments& arguments)
      : module_(module), launch_(launch), keptCount_(arguments.bufferCount) {
    module_.beginLaunch();
    void** addresses = reinterpret_cast<void**>(this + 1);
    kept_ = reinterpret_cast<Storage**>(addresses + arguments.count);
    for (int32_t i = 0; i < keptCount_; ++i) {
      kept()[i] = arguments.buffers[i]->memory().get();
      kept()[i]->retain();
    }
    char* values = reinterpret_cast<char*>(this) + headSize(arguments);
    for (int32_t i = 0; i < arguments.count; ++i) {
      addresses[i] = values;
      std::memcpy(values, arguments.values[i], arguments.sizes[i]);
      values += rounded(arguments.sizes[i]);
    }
    launch_.arguments = addresses;
  }

  Storage** kept() { return kept_; }
  static size_t headSize(const LaunchArguments& arguments) {
    return rounded(sizeof(LaunchTask) + static_cast<size_t>(arguments.count + arguments.bufferCount) * sizeof(void*));
  }
  static size_t sizeOf(const LaunchArguments& arguments) {
    size_t bytes = headSize(arguments);
    for (int32_t i = 0; i < arguments.count; ++i) bytes += rounded(arguments.sizes[i]);
    return bytes;
  }

  LaunchedModule& module_;
  CpuLaunch launch_;
  int32_t keptCount_;
  Storage** kept_ = nullptr;
};

class CpuKernel final : public MaxKernel {
 public:
  CpuKernel(LaunchedModule& module, const std::string& name, const MaxCpuKernel& kernel)
      : MaxKernel(module, name), module_(module), kernel_(kernel) {
    setParameters(std::vector<size_t>(kernel.sizes, kernel.sizes + kernel.count));
    LaunchLimits limits;
    if (kernel.maxThreads > 0) limits.threads = std::min<int64_t>(limits.threads, kernel.maxThreads);
    setLimits(limits);
    setSharedLimit(kSharedByDefault);
  }

  int64_t attribute(MaxKernelAttribute attribute) const override {
    switch (attribute) {
      case MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return limits().threads;
      case MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE:
        return sharedLimit();
      case MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT:
        return carveout_;
      default:
        fail(MAX_STATUS_UNIMPLEMENTED, "Kernels on cpu:0 have no attribute ", attribute);
    }
  }

  void setAttribute(MaxKernelAttribute attribute, int64_t value) override {
    if (attribute == MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT) return setCarveout(value);
    require(attribute == MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, MAX_STATUS_UNIMPLEMENTED, "Attribute ",
            attribute, " of kernels on cpu:0 cannot be set");
    require(value >= 0 && value <= static_cast<int64_t>(kMaxCpuShared), MAX_STATUS_INVALID_ARGUMENT,
            "Dynamic shared memory of kernel '", name(), "' cannot be ", value, " bytes; allowed are 0 to ",
            kMaxCpuShared);
    setSharedLimit(value);
  }

 protected:
  void enqueue(const MaxLaunchConfig& config, const LaunchArguments& arguments, MaxStream& stream) override {
    require(config.cooperative == 0, MAX_STATUS_UNIMPLEMENTED, "Kernel '", name(),
            "' is launched cooperatively: blocks on cpu:0 run one after another");
    require(config.cluster[0] == 0, MAX_STATUS_UNIMPLEMENTED, "Kernel '", name(),
            "' is launched in clusters, which cpu:0 does not have");
    CpuLaunch launch;
    launch.kernel = &kernel_;
    launch.name = name().c_str();
    launch.arguments = arguments.values;
    std::copy_n(config.grid, 3, launch.grid);
    std::copy_n(config.block, 3, launch.block);
    launch.sharedBytes = config.sharedByteCount;
    if (stream.runsInline()) return runOnCpu(launch, kernelLanes());
    stream.enqueue(LaunchTask::make(module_, launch, arguments));
  }

 private:
  // A hint that the host ignores.
  void setCarveout(int64_t percent) {
    require(percent >= -1 && percent <= 100, MAX_STATUS_INVALID_ARGUMENT, "Shared memory of kernel '", name(),
            "' cannot be ", percent, " percent of the cache; allowed are -1 (the driver's choice) to 100");
    carveout_ = percent;
  }

  LaunchedModule& module_;
  const MaxCpuKernel& kernel_;
  std::atomic<int64_t> carveout_{-1};
};

class CpuModule final : public LaunchedModule {
 public:
  CpuModule(Ref<MaxDevice> device, ModuleContent content)
      : LaunchedModule(std::move(device), std::move(content)), library_(CpuLibrary::load(code())) {}

  void setConstant(const std::string& name, const void* data, size_t bytes, MaxStream& stream) override {
    const CpuVariable variable = library_->variable(name);
    if (!variable.address) failVariable(name);
    checkVariable(name, variable.size, bytes);
    if (stream.runsInline()) return static_cast<void>(std::memcpy(variable.address, data, bytes));
    stream.submit(
        [library = library_, to = variable.address, text = std::string(static_cast<const char*>(data), bytes)] {
          std::memcpy(to, text.data(), text.size());
        });
  }

 protected:
  std::unique_ptr<MaxKernel> findKernel(const std::string& name) override {
    const MaxCpuKernel* kernel = library_->find(name);
    if (!kernel) failKernel(name);
    return std::make_unique<CpuKernel>(*this, name, *kernel);
  }

 private:
  Ref<CpuLibrary> library_;
};

class CpuBackend final : public KernelBackend {
 public:
  const KernelCompiler& compiler() const override { return cpuCompiler(); }
  void aim(KernelSource&, const MaxDevice&) const override {}
  MaxArtifactKind kindOf(std::string_view code) const override {
    require(code.starts_with("\177ELF"), MAX_STATUS_INVALID_ARGUMENT, "The ", code.size(),
            " bytes are not a shared object, which is what cpu:0 loads");
    return MAX_ARTIFACT_KIND_SHARED_OBJECT;
  }
  Ref<MaxModule> load(MaxDevice& device, ModuleContent content) const override {
    return makeRef<CpuModule>(Ref<MaxDevice>(&device), std::move(content));
  }
};

}  // namespace

const KernelBackend& cpuKernels() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace max
