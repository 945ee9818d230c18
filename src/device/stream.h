// SPDX-License-Identifier: Apache-2.0
// Streams: work in order. A device's backend derives its own streams.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/handle.h"
#include "base/ref.h"
#include "device/memory.h"
#include "device/stream_work.h"
#include "device/task_memory.h"
#include "max/stream.h"

struct MaxDevice;
struct MaxEvent;

namespace max {

// A piece of work for the host, in stream order.
class StreamTask {
 public:
  virtual ~StreamTask() = default;
  // `earlier` is the failure of earlier work on the stream, after which only tasks that say so are run; NULL = none.
  // What run throws becomes the stream's failure.
  virtual void run(const Error* earlier) = 0;
  virtual bool runsAfterFailure() const { return false; }

  static void* operator new(size_t bytes) { return takeTaskMemory(bytes); }
  static void operator delete(void* task) { giveBackTaskMemory(task); }

  std::unique_ptr<StreamTask> next;  // used by the stream that holds the task
};

// Runs a task on a stream's thread, where nobody takes what it throws.
std::optional<Error> failureOf(StreamTask& task, const Error* earlier) noexcept;
// With another message if there is no memory for its own.
Error copyOf(const Error& error) noexcept;

template <class Function>
class FunctionTask final : public StreamTask {
 public:
  explicit FunctionTask(Function function) : function_(std::move(function)) {}
  void run(const Error*) override { function_(); }

 private:
  Function function_;
};

// Also after a failure: later work must not be done before what it waits for.
template <class Wait>
class WaitTask final : public StreamTask {
 public:
  explicit WaitTask(Wait wait) : wait_(std::move(wait)) {}
  void run(const Error*) override { wait_(); }
  bool runsAfterFailure() const override { return true; }

 private:
  Wait wait_;
};

template <class Wait>
std::unique_ptr<StreamTask> makeWaitTask(Wait wait) {
  return std::make_unique<WaitTask<Wait>>(std::move(wait));
}

}  // namespace max

// The default stream is a member of its device: references to it are references to the device,
// so Retain and Release always go to `counted_`.
struct MaxStream : max::HandleOf<MaxStream, max::RefCounted> {
 public:
  void retain() const noexcept { counted_->retain(); }
  void release() const noexcept { counted_->release(); }

  MaxDevice& device() const { return device_; }
  bool isDefault() const { return counted_ != this; }
  // Work runs in the calling thread, before the call returns.
  bool runsInline() const { return runsInline_; }

  // Throws the failure of earlier work, or that a fork has cut the stream off.
  virtual void check() = 0;
  // Throws if this thread must not wait for the stream: in one of its host functions, or after a fork.
  virtual void requireWaitable() = 0;
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
  // The stream's work as others see it; NULL if it is done whenever a call has returned.
  virtual max::StreamWork* work() const = 0;
  // Later work comes after other work up to the position, whatever becomes of that. What is done, or was waited for
  // before, costs nothing more.
  void follow(max::StreamWork& other, uint64_t position);

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

  virtual void awaitWork(max::StreamWork& other, uint64_t position) = 0;

 private:
  struct Followed {
    uint64_t id = 0;
    uint64_t position = 0;
  };
  static constexpr size_t kFollowed = 4;

  bool hasFollowed(const max::StreamWork& other, uint64_t position);
  void noteFollowed(const max::StreamWork& other, uint64_t position);

  MaxDevice& device_;
  const max::RefCounted* counted_;
  bool runsInline_;
  std::mutex followedMutex_;
  Followed followed_[kFollowed];  // by the mutex; the newest first
};
