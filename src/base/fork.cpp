// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace max {

namespace {

// Needs no constructor or destructor: threads may use it while the process starts and exits.
struct ForkState {
  std::atomic<uint32_t> generation{1};
  std::mutex mutex;
  std::atomic<bool> isRegistered{false};
};

constinit ForkState only;

void lockBeforeFork() { only.mutex.lock(); }
void unlockInParent() { only.mutex.unlock(); }
void unlockInChild() {
  only.generation.fetch_add(1, std::memory_order_relaxed);
  only.mutex.unlock();
}

// Without memory for the handlers, the next call tries again.
ForkState& state() noexcept {
  if (only.isRegistered.load(std::memory_order_acquire)) return only;
  const std::lock_guard lock(only.mutex);
  if (!only.isRegistered.load(std::memory_order_relaxed) &&
      pthread_atfork(lockBeforeFork, unlockInParent, unlockInChild) == 0)
    only.isRegistered.store(true, std::memory_order_release);
  return only;
}

}  // namespace

uint32_t forkGeneration() noexcept { return state().generation.load(std::memory_order_relaxed); }
std::mutex& processMutex() noexcept { return state().mutex; }

}  // namespace max
