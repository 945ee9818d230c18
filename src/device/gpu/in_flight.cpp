// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/in_flight.h"

namespace max::gpu {

namespace {

// Entries that one look asks about at most before it finds one that is not done; each question is a call of the driver.
constexpr size_t kBusyAtOnce = 4;

}  // namespace

void InFlight::keep(Ref<const RefCounted> object, void* stream) {
  collect();
  Entry entry{makeRef<StreamMark>(events_, stream), std::move(object)};
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
}

void InFlight::keep(Ref<const RefCounted> object, std::vector<Ref<StreamMark>> marks) {
  collect();
  const std::lock_guard lock(mutex_);
  for (Ref<StreamMark>& mark : marks) entries_.push_back({std::move(mark), object});
}

// What is released may call the host program, so not under the lock. A device that seems to be lost may still be at
// work: all stays until it goes.
void InFlight::collect() {
  if (!events_->source().isUsable()) return;
  std::vector<Entry> done;  // outlives the lock
  std::unique_lock lock(mutex_);
  size_t busy = 0;
  for (auto entry = entries_.begin(); entry != entries_.end() && busy < kBusyAtOnce;) {
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

void InFlight::clear() noexcept {
  std::deque<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
}

}  // namespace max::gpu
