// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/in_flight.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <thread>

#include "base/detached_thread.h"
#include "device/gpu/host_queue.h"

namespace max::gpu {

namespace {

// Maximum entries that one pass queries before it finds one that is not done; each query is a driver call.
constexpr size_t kBusyAtOnce = 4;
constexpr std::chrono::milliseconds kWatchPeriod(10);

}  // namespace

// Collects what is in flight while the program makes no call that does: its memory may be waited for, and the entries
// may be the last references to the device.
class Watch {
 public:
  void add(InFlight& inFlight) {
    const std::lock_guard lock(mutex_);
    watched_.push_back(&inFlight);
    if (!isRunning_) isRunning_ = startDetachedThread(run, this);
    wake_.notify_one();
  }
  void remove(const InFlight& inFlight) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(watched_, &inFlight);
  }

 private:
  static void* run(void* watch) {
    pthread_setname_np(pthread_self(), "max-in-flight");
    static_cast<Watch*>(watch)->work();
    return nullptr;
  }

  void work() {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return !watched_.empty(); });
      }
      std::this_thread::sleep_for(kWatchPeriod);
      look();
    }
  }

  void look() noexcept {
    for (size_t i = 0; const Ref<InFlight> each = at(i); ++i) {
      try {
        each->collect(std::numeric_limits<size_t>::max());
        each->collectLost();
      } catch (const std::exception&) {  // the next pass may succeed
      }
    }
    const std::lock_guard lock(mutex_);
    std::erase_if(watched_, [](InFlight* each) { return each->endWatchIfEmpty(); });
  }

  Ref<InFlight> at(size_t index) {
    const std::lock_guard lock(mutex_);
    return Ref<InFlight>(index < watched_.size() ? watched_[index] : nullptr);
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool isRunning_ = false;
  std::vector<InFlight*> watched_;  // leave before they go
};

namespace {

// Never destroyed: its thread outlives main.
Watch& watchman() {
  static Watch& instance = *new Watch;
  return instance;
}

}  // namespace

void InFlight::keep(Ref<const RefCounted> object, void* stream) {
  collect();
  Entry entry{makeRef<StreamMark>(events_, stream), std::move(object)};
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  watch();
}

void InFlight::keep(std::vector<Ref<const RefCounted>> objects, void* stream) {
  collect();
  const auto mark = makeRef<StreamMark>(events_, stream);
  {
    const std::lock_guard lock(mutex_);
    for (Ref<const RefCounted>& object : objects) entries_.push_back({mark, std::move(object)});
  }
  watch();
}

void InFlight::keep(Ref<const RefCounted> object, std::vector<Ref<StreamMark>> marks) {
  collect();
  {
    const std::lock_guard lock(mutex_);
    for (Ref<StreamMark>& mark : marks) entries_.push_back({std::move(mark), object});
  }
  watch();
}

void InFlight::watch() noexcept {
  if (isWatched_.load(std::memory_order_relaxed) || isWatched_.exchange(true)) return;
  try {
    watchman().add(*this);
  } catch (const std::exception&) {
    isWatched_ = false;
  }
}

bool InFlight::endWatchIfEmpty() noexcept {
  const std::lock_guard lock(mutex_);
  if (!entries_.empty()) return false;
  isWatched_ = false;
  return true;
}

void InFlight::collect() {
  if (!isInHostFunction()) collect(kBusyAtOnce);
}

// Releasing may call the host program, so the lock is not held. A device that seems to be lost may still be working.
void InFlight::collect(size_t busyAtMost) {
  if (!events_->source().isUsable()) return;
  std::vector<Entry> done;  // outlives the lock
  std::unique_lock lock(mutex_);
  size_t busy = 0;
  for (auto entry = entries_.begin(); entry != entries_.end() && busy < busyAtMost;) {
    if (!entry->mark->isDone()) {
      ++busy;
      ++entry;
      continue;
    }
    done.push_back(std::move(*entry));
    entry = entries_.erase(entry);
  }
  lock.unlock();
}

void InFlight::collectLost() noexcept {
  if (events_->source().isUsable()) return;
  events_->source().waitForDevice();
  drop();
}

void InFlight::clear() noexcept {
  watchman().remove(*this);
  drop();
}

void InFlight::drop() noexcept {
  std::deque<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
}

}  // namespace max::gpu
