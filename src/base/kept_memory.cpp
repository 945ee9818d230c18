// SPDX-License-Identifier: Apache-2.0
#include "base/kept_memory.h"

#include <chrono>
#include <thread>

#include "base/fork.h"

namespace max {

namespace {

constexpr auto kPoll = std::chrono::microseconds(50);
constexpr auto kLongestWait = std::chrono::seconds(1);

// How many trims are under way, and how many have ended. Guarded by processMutex(). A child starts anew.
struct Trims {
  uint32_t process = 0;  // forkGeneration()
  uint64_t running = 0, ended = 0;
};

constinit Trims trims;
thread_local int depth = 0;  // trims of this thread: what they free may belong to programs, whose functions trim

Trims& currentTrims() {
  if (trims.process != forkGeneration()) trims = {forkGeneration(), 0, 0};
  return trims;
}

// A trim holds what it is about to free.
class TrimScope {
 public:
  TrimScope() {
    const std::lock_guard lock(processMutex());
    ++currentTrims().running;
    ++depth;
  }
  ~TrimScope() {
    const std::lock_guard lock(processMutex());
    --depth;
    Trims& now = currentTrims();
    if (now.running == 0) return;  // begun by the parent of a child
    --now.running;
    ++now.ended;
  }
  TrimScope(const TrimScope&) = delete;
  TrimScope& operator=(const TrimScope&) = delete;
};

// Until as many trims have ended as run now: those of other threads, which may have to wait for a processor.
void waitForOthers() {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  uint64_t last = 0;
  for (bool isFirst = true;; isFirst = false) {
    {
      const std::lock_guard lock(processMutex());
      const Trims& now = currentTrims();
      if (isFirst) last = now.ended + now.running;
      if (now.running == 0 || now.ended >= last) return;
    }
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

void KeptMemoryList::add(const RefCounted& owner, const KeptMemory& memory) {
  const std::lock_guard lock(processMutex());
  entries_.emplace_back(&owner, &memory);
}

void KeptMemoryList::remove(const KeptMemory& memory) noexcept {
  const std::lock_guard lock(processMutex());
  std::erase_if(entries_, [&](const auto& entry) { return entry.second == &memory; });
}

// Without the lock, which owners may need in their destructors; they are held meanwhile. When it ends, what other
// threads were trimming is free, too.
void KeptMemoryList::trim(Kept which) const {
  {
    const TrimScope scope;
    std::vector<std::pair<Ref<const RefCounted>, const KeptMemory*>> held;
    {
      const std::lock_guard lock(processMutex());
      held.reserve(entries_.size());
      for (const auto& [owner, memory] : entries_)
        if (owner->tryRetain()) held.emplace_back(Ref<const RefCounted>::adopt(owner), memory);
    }
    for (const auto& [owner, memory] : held) memory->trim(which);
  }
  if (depth == 0) waitForOthers();
}

}  // namespace max
