// SPDX-License-Identifier: Apache-2.0
// Accelerator streams: a driver stream and what its queued work uses.
#pragma once

#include <vector>

#include "device/gpu/device_parts.h"
#include "device/gpu/gpu_work.h"
#include "device/gpu/host_queue.h"
#include "device/gpu/strided_plan.h"
#include "device/stream.h"

namespace max::gpu {

// A driver stream, either destroyed with its owner or borrowed.
class NativeStream final : public RefCounted {
 public:
  NativeStream(Ref<Context> context, int32_t priority);
  NativeStream(Ref<Context> context, void* borrowed)
      : context_(std::move(context)), handle_(borrowed), isOwned_(false) {}
  ~NativeStream() override;

  void* handle() const { return handle_; }
  // Whether it cannot be destroyed now: its work is not done, and the driver would wait for it.
  bool isAwaited() const noexcept;

 private:
  Ref<Context> context_;
  void* handle_ = nullptr;
  bool isOwned_ = true;
};

class GpuStream final : public MaxStream {
 public:
  // `parts` are the device's.
  GpuStream(MaxDevice& device, const DeviceParts& parts, Ref<HostQueue> hostQueue, bool isDefault, int32_t priority);
  GpuStream(MaxDevice& device, const DeviceParts& parts, Ref<HostQueue> hostQueue, void* borrowed);
  ~GpuStream() override;

  void check() override;
  void requireWaitable() override;
  void waitUntilIdle() override;
  // Code with the driver's stream may queue work that the library does not see.
  void* native() override {
    work_->share();
    return handle();
  }
  void synchronize() override;
  void copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind kind) override;
  void copyPeer(MemoryRange target, MaxDevice& targetDevice, MemoryRange source, MaxDevice& sourceDevice,
                size_t bytes) override;
  void copyStrided(const StridedCopy& copy) override;
  void fill(MemoryRange target, const FillPattern& pattern, size_t count) override;
  void enqueue(std::unique_ptr<StreamTask> task) override;
  void noteUse(const Ref<Storage>& memory) override;
  bool isCaptured() override { return ordered_->isCaptured(); }
  void requireUncaptured(const char* what) override;
  void record(MaxEvent& event) override;
  void wait(MaxEvent& event) override;
  StreamWork* work() const override { return work_.get(); }

  void* handle() const { return native_->handle(); }
  // Work that uses the handle has been queued.
  void noteQueued() noexcept { work_->noteQueued(); }
  const Context& context() const { return *parts_.context; }
  OrderedStream& ordered() const { return *ordered_; }
  const Ref<HostQueue>& hostQueue() const { return hostQueue_; }
  // If the memory is a block of this driver's allocators, notes that queued work uses it.
  bool noteInBlock(const Ref<Storage>& memory) const noexcept;
  // Like noteUse, for any object.
  void keepUntilDone(Ref<const RefCounted> object);
  // One mark for all of them.
  void keepUntilDone(std::vector<Ref<const RefCounted>> objects);
  // It is captured for a graph of the library, which keeps the code that the work runs; NULL = no longer.
  void setGraphUses(std::vector<Ref<const RefCounted>>* uses);
  void noteCode(const RefCounted& code) {
    if (graphUses_) [[unlikely]]
      addToGraph(code);
  }

 protected:
  void awaitWork(StreamWork& other, uint64_t position) override;

 private:
  bool isDriverIdle() const;
  bool mustStage(const MemoryRange& source);
  void copyStaged(const MemoryRange& target, const MemoryRange& source, size_t bytes);
  void waitForDriver();
  void goWhenIdle() noexcept;
  StreamTable& table() const { return *context().driver().streams; }
  void joinCapture(void* event);
  void finishForFailure() const noexcept;
  // Queues work that uses memory on both sides (without an owner: the caller's), and keeps the memory until it is done,
  // even if only part of it was queued.
  template <class Function>
  void queue(const Ref<Storage>& target, const Ref<Storage>& source, Function&& function) {
    try {
      function();
    } catch (...) {
      noteQueued();
      keepAfterFailure(target);
      keepAfterFailure(source);
      throw;
    }
    noteQueued();
    noteUse(target);
    noteUse(source);
  }
  void keepAfterFailure(const Ref<Storage>& memory) noexcept;
  bool copyByKernel(const StridedPlan& plan, char* target, const char* source);
  void fillElements(void* target, const FillPattern& pattern, size_t count);
  void repeatPattern(char* target, const FillPattern& pattern, size_t count);
  void addToGraph(const RefCounted& code);

  const DeviceParts& parts_;
  Ref<NativeStream> native_;
  Ref<OrderedStream> ordered_;
  Ref<HostQueue> hostQueue_;
  Ref<GpuWork> work_;
  std::vector<Ref<const RefCounted>>* graphUses_ = nullptr;
};

}  // namespace max::gpu
