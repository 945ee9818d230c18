// SPDX-License-Identifier: Apache-2.0
// Accelerators.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/gpu/device_parts.h"
#include "device/gpu/gpu_stream.h"
#include "device/gpu/product_library.h"
#include "device/gpu/ranges.h"
#include "device/gpu/strided_kernel.h"

namespace max::gpu {

class GpuDevice final : public MaxDevice {
 public:
  GpuDevice(const Ref<Context>& context, const MaxDeviceOptions& options);
  ~GpuDevice() override;

  const char* name() const override { return name_.c_str(); }
  const char* architectureName() const override { return architecture_.c_str(); }
  bool isCompatible() const override;
  bool canAccess(const MaxDevice& peer) const override;
  void enablePeerAccess(const MaxDevice& peer) override;
  int64_t attribute(MaxDeviceAttribute attribute) const override;
  int64_t driverVersion() const override { return context().driver().version; }
  MemoryInfo memoryInfo() const override;
  MaxDeviceStats stats() const override;

  Ref<Storage> allocate(size_t bytes, const AllocationOptions& options, MaxStream& stream) override;
  void* allocateHost(size_t bytes) override;
  void freeHost(void* pointer) override;
  void trim() override;

  MaxStream& defaultStream() override { return defaultStream_; }
  Ref<MaxStream> createStream(int32_t priority) override;
  Ref<MaxStream> wrapStream(void* native) override;
  Ref<MaxEvent> createEvent(bool timing) override;
  void synchronize() override;
  Ref<WorkGraph> record(FunctionRef<void(MaxStream&)> queue) override;

  Ref<DeviceProduct> product(const DeviceProductShape& shape) override;
  void loadProducts(DType factors, MaxPrecision precision) override;

  void beginRange(const char* name) override { rangesOf(context().api()).begin(name); }
  void endRange() override { rangesOf(context().api()).end(); }

  const Context& context() const { return *parts_.context; }
  const Ref<Context>& sharedContext() const { return parts_.context; }
  CachingAllocator& memory() const { return *parts_.memory; }
  const DeviceParts& parts() const { return parts_; }
  // Made when it is first asked for; NULL = the device has none.
  Ref<StridedKernel> stridedKernel();

 protected:
  void dispose() noexcept override;

 private:
  static void destroy(void* device) noexcept;
  void requireOwnStream(void* native) const;
  void awaitStreams();
  // For calls that wait for all work.
  void requireOutsideHostFunctions();
  // Of a new stream.
  Ref<HostQueue> newHostQueue();
  std::vector<Ref<HostQueue>> hostQueues();

  std::string name_;
  std::string architecture_;
  std::string busId_;
  DeviceParts parts_;
  std::mutex mutex_;
  // Guarded by the mutex.
  std::map<void*, Ref<Storage>> hostBlocks_;
  std::vector<Ref<HostQueue>> hostQueues_;
  bool isKernelMade_ = false;
  Ref<StridedKernel> stridedKernel_;
  Ref<Products> products_;
  std::set<std::pair<DType, MaxPrecision>> loadedProducts_;

  GpuStream defaultStream_;  // uses the others
};

// Number of accelerators of an API; "gpu" means the first API that has any.
int32_t gpuCount(std::string_view api);
// The API that `api` stands for; the first one if "gpu" finds no accelerator.
const char* gpuApi(std::string_view api);
// Throws UNAVAILABLE that says why there is no accelerator.
void requireGpu();
Ref<MaxDevice> openGpu(std::string_view api, int32_t id, const MaxDeviceOptions& options);
// Of the device with this id, without opening it.
std::string gpuArchitecture(std::string_view api, int32_t id);

}  // namespace max::gpu
