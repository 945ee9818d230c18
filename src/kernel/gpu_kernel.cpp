// SPDX-License-Identifier: Apache-2.0
#include "kernel/gpu_kernel.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace max {

namespace {

// The oldest architecture that can start a kernel before the previous one has ended.
constexpr int64_t kProgrammaticCapability = 9;

// Attributes that can be set, with their ranges; -1 = up to the device's maximum.
struct SettableRow {
  MaxKernelAttribute attribute;
  int64_t least;
  int64_t most;
};
constexpr SettableRow kSettable[] = {
    {MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, 0, -1},
    {MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, -1, 100},
    {MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0, 1},
};

const SettableRow* settable(MaxKernelAttribute attribute) {
  const auto* row = std::ranges::find(kSettable, attribute, &SettableRow::attribute);
  return row == std::end(kSettable) ? nullptr : row;
}

LaunchLimits limitsOf(const MaxDevice& device, int64_t threads) {
  LaunchLimits limits;
  limits.threads = threads;
  for (int i = 0; i < 3; ++i) {
    limits.block[i] = device.attribute(MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
    limits.grid[i] = device.attribute(MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
  }
  return limits;
}

// A driver that is older than the attribute does not know its number; 0 = no driver of the API does.
int64_t deviceNumber(const gpu::Context& context, int number, int64_t ifUnknown) {
  if (number == 0) return ifUnknown;
  const auto& get = context.driver().deviceGetAttribute;
  int value = 0;
  const int error = context.query(get, &value, number, context.device());
  if (error == gpu::kInvalidValue) return ifUnknown;
  if (error != gpu::kSuccess) context.fail(get.name, error);
  return value;
}

bool hasCluster(const MaxLaunchConfig& config) { return config.cluster[0] > 0; }

unsigned dimension(int32_t value) { return static_cast<unsigned>(value); }

// Attributes of a launch.
class AttributeList {
 public:
  // `priority` is the driver's. Hints that the device would reject are omitted.
  AttributeList(const MaxLaunchConfig& config, int priority, const LaunchHints& hints) {
    if (hasCluster(config))
      add(gpu::kLaunchClusterDimension).clusterDimension = {dimension(config.cluster[0]), dimension(config.cluster[1]),
                                                            dimension(config.cluster[2])};
    if (config.cooperative) add(gpu::kLaunchCooperative).cooperative = 1;
    if (config.programmaticSerialization && hints.isProgrammatic)
      add(gpu::kLaunchProgrammaticStreamSerialization).programmaticStreamSerialization = 1;
    if (config.priority != 0) add(gpu::kLaunchPriority).priority = priority;
    if (config.accessBase && hints.accessBytes > 0)
      add(gpu::kLaunchAccessPolicyWindow).accessPolicyWindow = {
          config.accessBase, std::min(config.accessByteCount, hints.accessBytes), config.hitRatio, config.hitProperty,
          config.missProperty};
  }
  gpu::LaunchAttribute* data() { return attributes_; }
  unsigned count() const { return count_; }

 private:
  gpu::LaunchAttributeValue& add(int id) {
    gpu::LaunchAttribute& attribute = attributes_[count_++];
    attribute = {};
    attribute.id = id;
    return attribute.value;
  }

  gpu::LaunchAttribute attributes_[5];
  unsigned count_ = 0;
};

bool wantsAttributes(const MaxLaunchConfig& config) {
  return hasCluster(config) || config.cooperative || config.programmaticSerialization || config.priority != 0 ||
         config.accessBase;
}

}  // namespace

GpuKernel::GpuKernel(MaxModule& module, GpuCode& code, gpu::GpuDevice& device, std::string name, void* function,
                     std::optional<std::vector<size_t>> parameters)
    : MaxKernel(module, std::move(name)), code_(code), context_(code.context()), function_(function) {
  setLimits(limitsOf(device, driverAttribute(MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK)));
  if (parameters) setParameters(std::move(*parameters));
  setSharedLimit(driverAttribute(MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE));
  mostShared_ = std::max(sharedLimit(), largestSharedSize());
  if (!context_.driver().launchWithAttributes) return;
  const gpu::LaunchAttributes& attributes = context_.api().launchAttributes;
  hasClusters_ = deviceNumber(context_, attributes.clusterLaunch, 0) != 0;
  hints_.isProgrammatic = device.attribute(MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= kProgrammaticCapability;
  hints_.accessBytes = static_cast<size_t>(deviceNumber(context_, attributes.mostAccessBytes, 0));
}

// For drivers, smaller numbers mean higher priority; numbers out of range are rejected.
int GpuKernel::driverPriority(int32_t priority) const {
  if (priority == 0) return 0;
  int least = 0, greatest = 0;
  context_.call(context_.driver().priorityRange, &least, &greatest);
  return static_cast<int>(std::clamp<int64_t>(-int64_t{priority}, greatest, least));
}

int GpuKernel::driverAttribute(int attribute) const {
  const auto& get = context_.driver().functionGetAttribute;
  require(bool{get}, MAX_STATUS_UNIMPLEMENTED, "The driver of ", context_.displayName(),
          " does not report attributes of kernels");
  int value = 0;
  const int error = context_.query(get, &value, attribute, function_);
  require(error != gpu::kInvalidValue, MAX_STATUS_UNIMPLEMENTED, "Kernel '", name(), "' on ", context_.displayName(),
          " has no attribute ", attribute);
  if (error != gpu::kSuccess) context_.fail(get.name, error);
  return value;
}

// The device's limit per block, minus what the kernel declares.
int64_t GpuKernel::largestSharedSize() const {
  const int64_t usual = module().device().attribute(MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  const int64_t total = deviceNumber(context_, context_.api().launchAttributes.mostSharedOptIn, usual);
  return total - driverAttribute(MAX_KERNEL_ATTRIBUTE_SHARED_SIZE);
}

int64_t GpuKernel::attribute(MaxKernelAttribute attribute) const {
  if (attribute == MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE) return sharedLimit();
  return driverAttribute(attribute);
}

void GpuKernel::setAttribute(MaxKernelAttribute attribute, int64_t value) {
  const SettableRow* row = settable(attribute);
  const bool isShared = attribute == MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE;
  const auto& set = context_.driver().functionSetAttribute;
  // Where it cannot be set, kernels may use all there is without being asked.
  require(row && (set || isShared), MAX_STATUS_UNIMPLEMENTED, "Attribute ", attribute, " of kernel '", name(), "' on ",
          context_.displayName(), " cannot be set");
  const int64_t most = row->most < 0 ? mostShared_ : row->most;
  require(value >= row->least && value <= most, MAX_STATUS_INVALID_ARGUMENT, "Attribute ", attribute, " of kernel '",
          name(), "' cannot be ", value, "; ", context_.displayName(), " allows ", row->least, " to ", most);
  if (set) context_.call(set, function_, attribute, static_cast<int>(value));
  if (isShared) setSharedLimit(value);
}

void GpuKernel::enqueue(const MaxLaunchConfig& config, const LaunchArguments& arguments, MaxStream& stream) {
  auto& gpuStream = static_cast<gpu::GpuStream&>(stream);
  gpuStream.check();
  if (context_.api().mostThreadsInGrid > 0) checkThreads(config);
  void** values = const_cast<void**>(arguments.values);
  if (wantsAttributes(config)) [[unlikely]]
    launchExtended(config, values, gpuStream.handle());
  else
    launch(config, values, gpuStream.handle());
  gpuStream.noteQueued();
  code_.noteUse(gpuStream.ordered());
  gpuStream.noteCode(code_);
  keepBuffers(arguments, gpuStream);
}

void GpuKernel::keepBuffers(const LaunchArguments& arguments, gpu::GpuStream& stream) {
  std::vector<Ref<const RefCounted>> borrowed;
  const Storage* last = nullptr;  // arguments are often parts of the same memory
  for (int32_t i = 0; i < arguments.bufferCount; ++i) {
    const Ref<Storage>& memory = arguments.buffers[i]->memory();
    if (std::exchange(last, memory.get()) == memory.get()) continue;
    if (!stream.noteInBlock(memory)) borrowed.emplace_back(memory.get());
  }
  if (!borrowed.empty()) stream.keepUntilDone(std::move(borrowed));
}

void GpuKernel::checkThreads(const MaxLaunchConfig& config) const {
  for (int i = 0; i < 3; ++i) {
    const int64_t threads = int64_t{config.grid[i]} * config.block[i];
    if (threads > context_.api().mostThreadsInGrid) [[unlikely]]
      invalidArgument("Kernel '", name(), "' is launched with ", config.grid[i], " blocks of ", config.block[i],
                      " threads in dimension ", i, ", ", threads, " threads; ", context_.displayName(), " has at most ",
                      context_.api().mostThreadsInGrid);
  }
}

void GpuKernel::launch(const MaxLaunchConfig& config, void** arguments, void* stream) const {
  context_.callChecked(context_.driver().launch, function_, dimension(config.grid[0]), dimension(config.grid[1]),
                       dimension(config.grid[2]), dimension(config.block[0]), dimension(config.block[1]),
                       dimension(config.block[2]), static_cast<unsigned>(config.sharedByteCount), stream, arguments,
                       static_cast<void**>(nullptr));
}

void GpuKernel::requireClusters(const MaxLaunchConfig& config) const {
  if (!hasCluster(config)) return;
  require(hasClusters_, MAX_STATUS_UNIMPLEMENTED, "Device ", context_.displayName(),
          " does not support clusters; kernel '", name(), "' asks for ", config.cluster[0], " x ", config.cluster[1],
          " x ", config.cluster[2], " blocks");
}

// If a driver does not support attributes, those that are only hints are omitted.
void GpuKernel::launchExtended(const MaxLaunchConfig& config, void** arguments, void* stream) const {
  requireClusters(config);
  const gpu::Driver& driver = context_.driver();
  if (driver.launchWithAttributes) {
    AttributeList attributes(config, driverPriority(config.priority), hints_);
    const gpu::LaunchConfig launchConfig = {dimension(config.grid[0]),
                                            dimension(config.grid[1]),
                                            dimension(config.grid[2]),
                                            dimension(config.block[0]),
                                            dimension(config.block[1]),
                                            dimension(config.block[2]),
                                            static_cast<unsigned>(config.sharedByteCount),
                                            stream,
                                            attributes.data(),
                                            attributes.count()};
    return context_.call(driver.launchWithAttributes, &launchConfig, function_, arguments,
                         static_cast<void**>(nullptr));
  }
  if (!config.cooperative) return launch(config, arguments, stream);
  require(bool{driver.launchCooperative}, MAX_STATUS_UNIMPLEMENTED, "The driver of ", context_.displayName(),
          " does not support cooperative launches; kernel '", name(), "' asks for one");
  context_.call(driver.launchCooperative, function_, dimension(config.grid[0]), dimension(config.grid[1]),
                dimension(config.grid[2]), dimension(config.block[0]), dimension(config.block[1]),
                dimension(config.block[2]), static_cast<unsigned>(config.sharedByteCount), stream, arguments);
}

}  // namespace max
