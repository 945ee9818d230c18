// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace max {

namespace {

// Never destroyed: threads may use it while the process exits.
struct ForkState {
  std::atomic<uint32_t> generation{1};
  std::mutex mutex;
};

ForkState& state() noexcept;

void lockBeforeFork() { state().mutex.lock(); }
void unlockInParent() { state().mutex.unlock(); }
void unlockInChild() {
  state().generation.fetch_add(1, std::memory_order_relaxed);
  state().mutex.unlock();
}

ForkState* makeState() {
  auto* made = new ForkState;
  pthread_atfork(lockBeforeFork, unlockInParent, unlockInChild);
  return made;
}

ForkState& state() noexcept {
  static ForkState& only = *makeState();
  return only;
}

}  // namespace

uint32_t forkGeneration() noexcept { return state().generation.load(std::memory_order_relaxed); }
std::mutex& processMutex() noexcept { return state().mutex; }

}  // namespace max
