// SPDX-License-Identifier: Apache-2.0
// Host streams: the default one runs work in the calling thread, created ones have a queue and a worker.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "device/event.h"
#include "device/stream.h"

namespace max {

class CpuDevice;

class CpuInlineStream final : public MaxStream {
 public:
  explicit CpuInlineStream(MaxDevice& device) : MaxStream(device, true, true) {}

  void check() override {}
  void requireWaitable() override {}
  void waitUntilIdle() override {}
  void synchronize() override {}
  void* native() override;
  void copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind kind) override;
  void copyStrided(const StridedCopy& copy) override;
  void fill(MemoryRange target, const FillPattern& pattern, size_t count) override;
  void enqueue(std::unique_ptr<StreamTask> task) override;
  void record(MaxEvent& event) override;
  void wait(MaxEvent& event) override;
  StreamWork* work() const override { return nullptr; }

 protected:
  void awaitWork(StreamWork& other, uint64_t position) override { other.wait(position); }
};

// Shared by a created stream, its worker, and waiters. The worker outlives the stream until the queue is empty.
class CpuQueue final : public StreamWork {
 public:
  explicit CpuQueue(Ref<CpuDevice> device);
  ~CpuQueue() override;

  void check();
  // Throws the failure of earlier work instead of accepting the task.
  void push(std::unique_ptr<StreamTask> task);
  // Throws if waiting for the queue would never end.
  void requireWaitable() const;
  void waitUntilIdle();
  // Throws the failure of earlier work, if any, and clears it.
  void throwFailureOnce();
  uint64_t position() const noexcept override { return pushed_.load(std::memory_order_acquire); }
  bool isDone(uint64_t position) const noexcept override {
    return completed_.load(std::memory_order_acquire) >= position;
  }
  bool isRunningHere() const noexcept override;
  void wait(uint64_t position) override;
  std::unique_ptr<StreamTask> waitTask(uint64_t position) override;
  // No more tasks will come; the worker ends when the queue is empty.
  void close() noexcept;
  bool isCutOff() const noexcept override;

 private:
  void startWorker();
  static void* runWorker(void* queue);
  void work();
  void runTask(StreamTask& task);
  void finishTask();
  std::optional<Error> earlierFailure();
  void leave() noexcept;
  std::unique_ptr<StreamTask> takeAll();

  Ref<CpuDevice> device_;
  const uint32_t generation_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::unique_ptr<StreamTask> head_;
  StreamTask* tail_ = nullptr;
  std::atomic<uint64_t> pushed_{0};
  std::atomic<uint64_t> completed_{0};
  std::atomic<int> waiters_{0};
  std::atomic<bool> failed_{false};  // failure_ is set
  std::atomic<bool> closed_{false};
  std::optional<Error> failure_;
  bool started_ = false;
  bool sleeping_ = false;  // the worker is asleep
};

class CpuQueueStream final : public MaxStream {
 public:
  CpuQueueStream(MaxDevice& device, Ref<CpuQueue> queue);
  ~CpuQueueStream() override;

  void check() override { queue_->check(); }
  void requireWaitable() override { queue_->requireWaitable(); }
  void waitUntilIdle() override;
  void synchronize() override;
  void* native() override;
  void copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind kind) override;
  void copyStrided(const StridedCopy& copy) override;
  void fill(MemoryRange target, const FillPattern& pattern, size_t count) override;
  void enqueue(std::unique_ptr<StreamTask> task) override;
  void record(MaxEvent& event) override;
  void wait(MaxEvent& event) override;
  StreamWork* work() const override { return queue_.get(); }

 protected:
  void awaitWork(StreamWork& other, uint64_t position) override { enqueue(other.waitTask(position)); }

 private:
  Ref<CpuQueue> queue_;
};

}  // namespace max
