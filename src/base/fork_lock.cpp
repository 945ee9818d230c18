// SPDX-License-Identifier: Apache-2.0
#include "base/fork_lock.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace max {

namespace {

constexpr size_t kLocks = 16;

struct Locks {
  std::mutex all[kLocks];
};

// Never destroyed: models may run in other threads while the process exits.
alignas(Locks) std::byte memory[sizeof(Locks)];
Locks* instance = nullptr;

void lockAll() {
  for (std::mutex& mutex : instance->all) mutex.lock();
}

void unlockAll() {
  for (std::mutex& mutex : instance->all) mutex.unlock();
}

Locks& locks() {
  static Locks* const made = [] {
    instance = new (memory) Locks;
    if (pthread_atfork(&lockAll, &unlockAll, &unlockAll) != 0) throw std::bad_alloc();
    return instance;
  }();
  return *made;
}

}  // namespace

std::mutex& forkSafeMutex(const void* object) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(object) >> 6;
  return locks().all[(address ^ (address >> 8)) % kLocks];
}

}  // namespace max
