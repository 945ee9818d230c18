// SPDX-License-Identifier: Apache-2.0
// Streams: work in order. A device's backend derives its own streams.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/ref.h"
#include "device/memory.h"
#include "device/task_memory.h"
#include "max/stream.h"

struct MaxDevice;
struct MaxEvent;

namespace max {

// A piece of work for the host, in stream order.
class StreamTask {
 public:
  virtual ~StreamTask() = default;
  // `earlier` is MAX_STATUS_OK or the failure of earlier work on the stream, after which only tasks
  // that say so are run. What run throws becomes the stream's failure.
  virtual void run(MaxStatus earlier) = 0;
  virtual bool runsAfterFailure() const { return false; }

  static void* operator new(size_t bytes) { return takeTaskMemory(bytes); }
  static void operator delete(void* task) { giveBackTaskMemory(task); }

  std::unique_ptr<StreamTask> next;  // used by the stream that holds the task
};

// Runs a task on a stream's thread, where nobody takes what it throws.
std::optional<Error> failureOf(StreamTask& task, MaxStatus earlier) noexcept;

template <class Function>
class FunctionTask final : public StreamTask {
 public:
  explicit FunctionTask(Function function) : function_(std::move(function)) {}
  void run(MaxStatus) override { function_(); }

 private:
  Function function_;
};

}  // namespace max

// The default stream is a member of its device: references to it are references to the device,
// so Retain and Release always go to `counted_`.
struct MaxStream : max::RefCounted {
 public:
  void retain() const noexcept { counted_->retain(); }
  void release() const noexcept { counted_->release(); }

  MaxDevice& device() const { return device_; }
  bool isDefault() const { return counted_ != this; }
  // Work runs in the calling thread, before the call returns.
  bool runsInline() const { return runsInline_; }

  // Throws the failure of earlier work, or that a fork has cut the stream off.
  virtual void check() = 0;
  // Waits for all work, then checks; the failure stays.
  virtual void waitUntilIdle() = 0;
  virtual void* native() = 0;
  // As waitUntilIdle, but the failure is gone once thrown.
  virtual void synchronize() = 0;

  virtual void copy(max::MemoryRange target, max::MemoryRange source, size_t bytes, MaxCopyKind kind) = 0;
  // Between devices of this stream's API; the stream belongs to one of them. Never asked of the host's streams.
  virtual void copyPeer(max::MemoryRange target, MaxDevice& targetDevice, max::MemoryRange source,
                        MaxDevice& sourceDevice, size_t bytes);
  virtual void copyStrided(const max::StridedCopy& copy) = 0;
  virtual void fill(max::MemoryRange target, const max::FillPattern& pattern, size_t count) = 0;
  // Host work in stream order. On an inline stream it runs at once and what it throws is thrown here.
  virtual void enqueue(std::unique_ptr<max::StreamTask> task) = 0;
  // Memory stays until the work is done that is now on the stream, whoever queued it.
  virtual void noteUse(const max::Ref<max::Storage>& memory);
  virtual void record(MaxEvent& event) = 0;
  virtual void wait(MaxEvent& event) = 0;
  // Later work waits for what is now on `other`.
  void waitFor(MaxStream& other);

  // Runs or enqueues a callable without arguments; captured Refs keep what it uses alive.
  template <class Function>
  void submit(Function&& function) {
    if (runsInline_)
      function();
    else
      enqueue(std::make_unique<max::FunctionTask<std::decay_t<Function>>>(std::forward<Function>(function)));
  }

 protected:
  // A created stream (`isDefault` false) holds its device and counts as a live object.
  MaxStream(MaxDevice& device, bool isDefault, bool runsInline);
  ~MaxStream() override;

 private:
  MaxDevice& device_;
  const max::RefCounted* counted_;
  bool runsInline_;
};
