// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/host_queue.h"

#include <algorithm>
#include <condition_variable>
#include <new>
#include <utility>
#include <vector>

#include "base/detached_thread.h"
#include "device/task_memory.h"

namespace max::gpu {

class HostCall final : public RefCounted {
 public:
  HostCall(Ref<HostQueue> queue, std::unique_ptr<StreamTask> task) : queue_(std::move(queue)), task_(std::move(task)) {}

  HostQueue& queue() const { return *queue_; }
  bool claim() const { return queue_->claim(*this); }
  void perform(const Error* loss) { queue_->perform(*task_, loss); }
  static void* operator new(size_t bytes) { return takeTaskMemory(bytes); }
  static void operator delete(void* call) { giveBackTaskMemory(call); }

  // Memory that the task held must be freed only when the driver's thread has returned.
  void dropTask() { task_.reset(); }
  // It is over for those who wait at the gate.
  void leaveGate() const noexcept { queue_->device_->leave(); }

 private:
  Ref<HostQueue> queue_;
  std::unique_ptr<StreamTask> task_;
};

namespace {

struct Later {
  void (*function)(void*);
  void* argument;
};

thread_local const HostQueue* runningQueue = nullptr;
thread_local std::vector<Later>* laterWork = nullptr;

struct Job {
  HostCall& call;
  bool isDone = false;
};

// As many threads as host functions run at a time; they are reused.
class Workers {
 public:
  // Returns when the job's call has been performed.
  void run(HostCall& call) {
    Job job{call};
    std::unique_lock lock(mutex_);
    jobs_.push_back(&job);
    if (idle_ < jobs_.size() && !startDetachedThread(loop, this)) {
      std::erase(jobs_, &job);
      lock.unlock();
      perform(call);
      return call.dropTask();
    }
    wake_.notify_one();
    done_.wait(lock, [&] { return job.isDone; });
  }

 private:
  static void* loop(void* workers) {
    pthread_setname_np(pthread_self(), "max-host-call");
    static_cast<Workers*>(workers)->work();
    return nullptr;
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      --idle_;
      Job& job = *jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      work(job, lock);
    }
  }

  // Returns with the lock held.
  void work(Job& job, std::unique_lock<std::mutex>& lock) {
    std::vector<Later> later;
    laterWork = &later;
    const Ref<HostCall> call(&job.call);
    perform(*call);
    laterWork = nullptr;
    lock.lock();
    job.isDone = true;
    done_.notify_all();
    lock.unlock();
    call->dropTask();
    for (const Later& work : later) work.function(work.argument);
    lock.lock();
  }

  static void perform(HostCall& call) {
    const HostFunctionScope scope;
    const HostQueue* before = std::exchange(runningQueue, &call.queue());
    call.perform(nullptr);
    runningQueue = before;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
  size_t idle_ = 0;
};

// Never destroyed: its threads outlive main.
Workers& workers() {
  static Workers& instance = *new Workers;
  return instance;
}

// Calls that a lost device has not made yet, but might still make.
struct KeptCalls {
  std::mutex mutex;
  std::vector<Ref<HostCall>> calls;
};

void keepForever(Ref<HostCall> call) noexcept {
  try {
    static KeptCalls& kept = *new KeptCalls;
    const std::lock_guard lock(kept.mutex);
    kept.calls.push_back(call);
  } catch (const std::bad_alloc&) {
    static_cast<void>(call.detach());
  }
}

}  // namespace

HostQueue::HostQueue(Ref<GatedDevice> device) : device_(std::move(device)) {}
HostQueue::~HostQueue() = default;

void HostQueue::check() const {
  if (!hasFailed_.load(std::memory_order_acquire)) [[likely]]
    return;
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
}

void HostQueue::throwFailureOnce() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return;
  Error error = std::move(*failure_);
  failure_.reset();
  hasFailed_.store(false, std::memory_order_release);
  throw error;
}

bool HostQueue::isRunningHere() const { return runningQueue == this; }

bool HostQueue::isEmpty() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty();
}

void* HostQueue::add(std::unique_ptr<StreamTask> task) {
  Ref<HostCall> call = makeRef<HostCall>(Ref<HostQueue>(this), std::move(task));
  device_->enter();
  try {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(call);
  } catch (...) {
    device_->leave();
    throw;
  }
  return call.detach();
}

// Removes the call from the queue; the caller then performs it.
bool HostQueue::claim(const HostCall& call) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(waiting_, [&](const Ref<HostCall>& c) { return c.get() == &call; });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

void HostQueue::cancel(void* argument) {
  const auto call = Ref<HostCall>::adopt(static_cast<HostCall*>(argument));
  if (claim(*call)) call->leaveGate();
}

void HostQueue::run(void* argument) {
  const auto call = Ref<HostCall>::adopt(static_cast<HostCall*>(argument));
  if (!call->claim()) return;
  workers().run(*call);
  call->leaveGate();
}

void HostQueue::abandon() noexcept {
  std::deque<Ref<HostCall>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(waiting_);
  }
  const Error loss(MAX_STATUS_UNAVAILABLE, "Device is lost");  // fits without an allocation
  for (const Ref<HostCall>& call : calls) {
    call->perform(&loss);
    call->dropTask();
    call->leaveGate();
    keepForever(call);
  }
}

std::optional<Error> HostQueue::earlierFailure() const {
  if (!hasFailed_.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return failure_ ? std::optional(copyOf(*failure_)) : std::nullopt;
}

void HostQueue::perform(StreamTask& task, const Error* loss) {
  const std::optional<Error> failure = earlierFailure();
  const Error* earlier = failure ? &*failure : loss;
  if (earlier && !task.runsAfterFailure()) return;
  std::optional<Error> error = failureOf(task, earlier);
  const std::lock_guard lock(mutex_);
  if (!error || failure_) return;
  failure_ = std::move(error);
  hasFailed_.store(true, std::memory_order_release);
}

void afterHostFunction(void (*function)(void*), void* argument) {
  if (laterWork)
    laterWork->push_back({function, argument});
  else
    function(argument);
}

}  // namespace max::gpu
