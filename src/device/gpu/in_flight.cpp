// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/in_flight.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <limits>
#include <new>
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

void InFlight::keep(std::vector<Ref<const RefCounted>> objects, const Ref<StreamMark>& mark) {
  collect();
  if (!mark) return;
  std::vector<Entry> entries;
  for (Ref<const RefCounted>& object : objects) entries.push_back({mark, std::move(object)});
  add(std::move(entries));
}

void InFlight::keep(Ref<const RefCounted> object, std::vector<Ref<StreamMark>> marks) {
  collect();
  std::vector<Entry> entries;
  for (Ref<StreamMark>& mark : marks) entries.push_back({std::move(mark), object});
  add(std::move(entries));
}

void InFlight::add(std::vector<Entry> entries) {
  {
    const std::lock_guard lock(mutex_);
    entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
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
  if (!entries_.empty() || collecting_ > 0) return false;
  isWatched_ = false;
  return true;
}

void InFlight::collect() {
  if (!isInHostFunction()) collect(kBusyAtOnce);
}

// All entries, in the hand of one thread, which asks the driver without the lock. What it has not released goes back
// before what came meanwhile.
class InFlight::Collection {
 public:
  explicit Collection(InFlight& owner) : owner_(owner) {
    const std::lock_guard lock(owner_.mutex_);
    entries.swap(owner_.entries_);
    ++owner_.collecting_;
  }
  ~Collection() {
    const std::lock_guard lock(owner_.mutex_);
    try {
      entries.insert(entries.end(), std::make_move_iterator(owner_.entries_.begin()),
                     std::make_move_iterator(owner_.entries_.end()));
      entries.swap(owner_.entries_);
    } catch (const std::bad_alloc&) {
      keepForever();
    }
    --owner_.collecting_;
    owner_.collected_.notify_all();
  }
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  std::deque<Entry> entries;

 private:
  // Work may use them, and there is no memory to note it.
  void keepForever() noexcept {
    for (Entry& entry : entries) static_cast<void>(entry.object.detach());
  }

  InFlight& owner_;
};

// Releasing may call the host program, so it comes last. A device that seems to be lost may still be working.
void InFlight::collect(size_t busyAtMost) {
  if (!device_->isUsable()) return;
  std::vector<Entry> done;
  Collection all(*this);
  size_t busy = 0;
  for (auto entry = all.entries.begin(); entry != all.entries.end() && busy < busyAtMost;) {
    if (!entry->mark->isDone()) {
      ++busy;
      ++entry;
      continue;
    }
    done.push_back(std::move(*entry));
    entry = all.entries.erase(entry);
  }
}

void InFlight::collectLost() noexcept {
  if (device_->isUsable()) return;
  device_->waitForDevice();
  drop();
}

void InFlight::clear() noexcept {
  watchman().remove(*this);
  drop();
}

void InFlight::drop() noexcept {
  std::deque<Entry> entries;
  {
    std::unique_lock lock(mutex_);
    collected_.wait(lock, [this] { return collecting_ == 0; });
    entries.swap(entries_);
  }
}

}  // namespace max::gpu
