// SPDX-License-Identifier: Apache-2.0
#include "device/task_memory.h"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "base/checked.h"
#include "base/fork.h"

namespace max {

namespace {

constexpr size_t kBlockBytes = 768;
constexpr int kMostBlocks = 4096;

class Home;

// Header before the memory of a task.
struct alignas(16) Block {
  Home* home;  // NULL = the heap
  Block* next;
};

Block* allocate(Home* home, size_t bytes) {
  return ::new (::operator new(checkedAdd(sizeof(Block), bytes))) Block{home, nullptr};
}

// The blocks of one thread at a time. Other threads only add to `returned_`, and the owner takes all of it at once, so
// contention is rare.
class Home {
 public:
  Block* take() {
    if (!mine_) mine_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (mine_) return std::exchange(mine_, mine_->next);
    if (made_ == kMostBlocks) return allocate(nullptr, kBlockBytes);
    Block* block = allocate(this, kBlockBytes);
    ++made_;
    return block;
  }

  void giveBack(Block* block) noexcept {
    block->next = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(block->next, block, std::memory_order_release, std::memory_order_relaxed))
      continue;
  }

  Home* nextFree = nullptr;  // among the homes without a thread

 private:
  Block* mine_ = nullptr;
  int made_ = 0;
  alignas(64) std::atomic<Block*> returned_{nullptr};
};

// Homes of threads that have ended, under processMutex(). Their blocks may still be in use, so a home lives as long as
// the process.
Home* freeHomes = nullptr;

class Resident {
 public:
  Resident() {
    const std::lock_guard lock(processMutex());
    home_ = freeHomes ? std::exchange(freeHomes, freeHomes->nextFree) : new Home;
  }
  ~Resident() {
    const std::lock_guard lock(processMutex());
    home_->nextFree = std::exchange(freeHomes, home_);
  }

  Home& home() { return *home_; }

 private:
  Home* home_;
};

Home& homeOfThread() {
  static thread_local Resident resident;
  return resident.home();
}

}  // namespace

void* takeTaskMemory(size_t bytes) {
  return (bytes <= kBlockBytes ? homeOfThread().take() : allocate(nullptr, bytes)) + 1;
}

void giveBackTaskMemory(void* memory) noexcept {
  Block* block = static_cast<Block*>(memory) - 1;
  if (block->home) return block->home->giveBack(block);
  ::operator delete(block);
}

}  // namespace max
