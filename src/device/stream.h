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

// Host work in stream order.
class StreamTask {
 public:
  virtual ~StreamTask() = default;
  // `earlier` is the failure of earlier work on the stream, after which only tasks that ask for it run; NULL = none. An
  // exception from run becomes the stream's failure.
  virtual void run(const Error* earlier) = 0;
  virtual bool runsAfterFailure() const { return false; }

  static void* operator new(size_t bytes) { return takeTaskMemory(bytes); }
  static void operator delete(void* task) { giveBackTaskMemory(task); }

  std::unique_ptr<StreamTask> next;  // used by the stream that holds the task
};

// Runs a task on a stream's thread, where nothing catches its exceptions.
std::optional<Error> failureOf(StreamTask& task, const Error* earlier) noexcept;
// With another message if there is no memory for the original.
Error copyOf(const Error& error) noexcept;

template <class Function>
class FunctionTask final : public StreamTask {
 public:
  explicit FunctionTask(Function function) : function_(std::move(function)) {}
  void run(const Error*) override { function_(); }

 private:
  Function function_;
};

// Runs also after a failure: later work must not run before what it waits for.
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

  // Throws the failure of earlier work, or if a fork has cut the stream off.
  virtual void check() = 0;
  // Throws if this thread must not wait for the stream: in one of its host functions, or after a fork.
  virtual void requireWaitable() = 0;
  // Waits for all work, then throws a failure, which stays.
  virtual void waitUntilIdle() = 0;
  virtual void* native() = 0;
  // Like waitUntilIdle, but clears the failure once thrown.
  virtual void synchronize() = 0;

  virtual void copy(max::MemoryRange target, max::MemoryRange source, size_t bytes, MaxCopyKind kind) = 0;
  // Between devices of this stream's API; the stream belongs to one of them. Not called for host streams.
  virtual void copyPeer(max::MemoryRange target, MaxDevice& targetDevice, max::MemoryRange source,
                        MaxDevice& sourceDevice, size_t bytes);
  virtual void copyStrided(const max::StridedCopy& copy) = 0;
  virtual void fill(max::MemoryRange target, const max::FillPattern& pattern, size_t count) = 0;
  // Queues host work in stream order. On an inline stream it runs at once, and exceptions are thrown here.
  virtual void enqueue(std::unique_ptr<max::StreamTask> task) = 0;
  // Keeps memory until all work now on the stream is done, regardless of who queued it.
  virtual void noteUse(const max::Ref<max::Storage>& memory);
  // Whether work on the stream is being kept for a graph of its driver, instead of being done.
  virtual bool isCaptured() { return false; }
  // Throws if it is, since the graph would repeat the work; `what` starts the message.
  virtual void requireUncaptured(const char*) {}
  virtual void record(MaxEvent& event) = 0;
  virtual void wait(MaxEvent& event) = 0;
  // Later work waits for all work now on `other`.
  void waitFor(MaxStream& other);
  // The stream's work, for other streams; NULL if work is always done when a call returns.
  virtual max::StreamWork* work() const = 0;
  // Later work comes after other work up to the position, failed or not. Costs nothing if that is done or was waited
  // for before.
  void follow(max::StreamWork& other, uint64_t position);

  // Runs or enqueues a callable without arguments; captured Refs keep alive what it uses.
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
