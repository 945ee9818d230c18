// SPDX-License-Identifier: Apache-2.0
// The queue of a created stream and its worker thread.
#include <pthread.h>

#include <chrono>
#include <new>
#include <utility>

#include "base/active_call.h"
#include "base/detached_thread.h"
#include "base/fork.h"
#include "base/futex.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/cpu_stream.h"

namespace max {

namespace {

thread_local const CpuQueue* currentQueue = nullptr;

// Waking a sleeping worker costs the enqueuing thread some microseconds.
constexpr auto kSpinTime = std::chrono::microseconds(20);
// Each read of the count takes its cache line from the enqueuing thread.
constexpr int kPauses = 8;

class Waiting {
 public:
  explicit Waiting(std::atomic<int>& waiters) : waiters_(waiters) { waiters_.fetch_add(1, std::memory_order_seq_cst); }
  ~Waiting() { waiters_.fetch_sub(1, std::memory_order_relaxed); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::atomic<int>& waiters_;
};

}  // namespace

CpuQueue::CpuQueue(Ref<CpuDevice> device) : device_(std::move(device)), generation_(forkGeneration()) {}
CpuQueue::~CpuQueue() {
  // A chain of destructors would recurse once per task.
  while (head_) head_ = std::move(head_->next);
}

bool CpuQueue::isCutOff() const noexcept { return generation_ != forkGeneration(); }

void CpuQueue::check() {
  require(!isCutOff(), MAX_STATUS_FAILED_PRECONDITION, "Stream belongs to the parent process: forked");
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
}

void CpuQueue::push(std::unique_ptr<StreamTask> task) {
  require(!isCutOff(), MAX_STATUS_FAILED_PRECONDITION, "Stream belongs to the parent process: forked");
  std::unique_lock lock(mutex_);
  if (failure_) throw Error(*failure_);
  if (!started_) startWorker();
  StreamTask* added = task.get();
  (tail_ ? tail_->next : head_) = std::move(task);
  tail_ = added;
  pushed_.fetch_add(1, std::memory_order_release);
  const bool wakes = std::exchange(sleeping_, false);
  lock.unlock();
  if (wakes) wake_.notify_one();
}

void CpuQueue::startWorker() {
  device_->addQueue(*this);
  retain();
  started_ = startDetachedThread(runWorker, this);
  if (started_) return;
  device_->removeQueue(*this);
  release();
  fail(MAX_STATUS_RESOURCE_EXHAUSTED, "Cannot start the worker thread of a stream");
}

void CpuQueue::requireWaitable() const {
  require(!isCutOff(), MAX_STATUS_FAILED_PRECONDITION, "Stream belongs to the parent process: forked");
  require(!isRunningHere(), MAX_STATUS_FAILED_PRECONDITION,
          "A host function cannot wait for the stream that it runs on");
}

bool CpuQueue::isRunningHere() const noexcept { return currentQueue == this; }

void CpuQueue::waitUntilIdle() {
  requireWaitable();
  wait(pushed_);
}

void CpuQueue::wait(uint64_t target) {
  if (completed_.load(std::memory_order_acquire) >= target) return;
  requireWaitable();
  std::unique_lock lock(mutex_);
  const auto isDone = [&] { return completed_ >= target; };
  const Waiting waiting(waiters_);
  const ActiveCall* call = activeCall();
  if (!call || !call->interrupt) return done_.wait(lock, isDone);
  const Interrupt& interrupt = *call->interrupt;
  while (!done_.wait_for(lock, std::chrono::nanoseconds(interruptPeriod(interrupt)), isDone)) interrupt.check();
}

std::unique_ptr<StreamTask> CpuQueue::waitTask(uint64_t position) {
  return makeWaitTask([queue = Ref<CpuQueue>(this), position] { queue->wait(position); });
}

void CpuQueue::throwFailureOnce() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return;
  Error error = std::move(*failure_);
  failure_.reset();
  failed_ = false;
  throw error;
}

// An idle queue releases its device at once, so that the last release of a stream can free it.
void CpuQueue::close() noexcept {
  Ref<CpuDevice> device;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (completed_ == pushed_) device = std::move(device_);
    wake_.notify_one();
  }
  if (device) device->removeQueue(*this);
}

void CpuQueue::leave() noexcept {
  Ref<CpuDevice> device;
  {
    const std::lock_guard lock(mutex_);
    device = std::move(device_);
  }
  if (device) device->removeQueue(*this);
}

void* CpuQueue::runWorker(void* argument) {
  pthread_setname_np(pthread_self(), "max-stream");
  auto* queue = static_cast<CpuQueue*>(argument);
  currentQueue = queue;
  queue->work();
  queue->leave();
  queue->release();
  return nullptr;
}

// Takes all queued tasks. Spins for a short time first: work often comes in quick succession.
std::unique_ptr<StreamTask> CpuQueue::takeAll() {
  const uint64_t taken = completed_.load(std::memory_order_relaxed);
  const auto hasWork = [&] { return pushed_.load(std::memory_order_acquire) != taken || closed_; };
  if (!hasWork()) {
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    while (!hasWork() && std::chrono::steady_clock::now() < end)
      for (int i = 0; i < kPauses; ++i) pauseCpu();
  }
  std::unique_lock lock(mutex_);
  sleeping_ = true;
  wake_.wait(lock, [&] { return head_ || closed_; });
  sleeping_ = false;
  tail_ = nullptr;
  return std::move(head_);
}

void CpuQueue::work() {
  while (std::unique_ptr<StreamTask> task = takeAll()) {
    while (task) {
      runTask(*task);
      task = std::move(task->next);
      finishTask();
    }
  }
}

// Waiters set their flag before they read the count.
void CpuQueue::finishTask() {
  completed_.fetch_add(1, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex_);
  done_.notify_all();
}

std::optional<Error> CpuQueue::earlierFailure() {
  if (!failed_.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return failure_ ? std::optional(copyOf(*failure_)) : std::nullopt;
}

void CpuQueue::runTask(StreamTask& task) {
  const std::optional<Error> earlier = earlierFailure();
  if (earlier && !task.runsAfterFailure()) return;
  std::optional<Error> error = failureOf(task, earlier ? &*earlier : nullptr);
  if (!error) return;
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  failed_ = true;
}

}  // namespace max
