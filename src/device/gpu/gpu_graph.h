// SPDX-License-Identifier: Apache-2.0
// Work that a driver repeats.
#pragma once

#include <atomic>
#include <vector>

#include "base/function_ref.h"
#include "device/device.h"
#include "device/gpu/device_parts.h"
#include "device/gpu/gpu_stream.h"

namespace max::gpu {

// An executable graph, and the code that it runs.
class ExecutableGraph final : public RefCounted {
 public:
  // Of a graph whose work uses these objects.
  ExecutableGraph(Ref<Context> context, void* graph, std::vector<Ref<const RefCounted>> uses);
  ~ExecutableGraph() override;

  void launch(GpuStream& stream);
  // The streams of launches, as bits.
  uint64_t streams() const { return streams_.load(std::memory_order_acquire); }

 private:
  const Ref<Context> context_;
  void* handle_ = nullptr;
  const std::vector<Ref<const RefCounted>> uses_;
  std::atomic<uint64_t> streams_{0};
};

class GpuGraph final : public WorkGraph {
 public:
  // What `queue` puts on the stream, which is new and used for nothing else. The parts are its device's.
  GpuGraph(const DeviceParts& parts, GpuStream& stream, FunctionRef<void(MaxStream&)> queue);
  ~GpuGraph() override;

  void launch(MaxStream& stream) override;

 private:
  const Ref<MaxDevice> device_;
  const DeviceParts& parts_;
  const Ref<ExecutableGraph> executable_;
};

}  // namespace max::gpu
