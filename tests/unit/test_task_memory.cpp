// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "device/task_memory.h"

namespace max {
namespace {

void* filled(size_t bytes) { return std::memset(takeTaskMemory(bytes), 0xff, bytes); }

void inOtherThread(auto&& function) { std::thread(function).join(); }

TEST(TaskMemory, ComesBackToTheThreadThatTookIt) {
  void* const memory = filled(100);
  inOtherThread([&] { giveBackTaskMemory(memory); });
  inOtherThread([&] {
    void* const other = filled(100);
    EXPECT_NE(other, memory);
    giveBackTaskMemory(other);
  });
  void* const again = filled(700);
  EXPECT_EQ(again, memory);
  giveBackTaskMemory(again);
}

TEST(TaskMemory, OutlivesTheThreadThatTookIt) {
  void *memory = nullptr, *next = nullptr;
  inOtherThread([&] { memory = filled(8); });
  giveBackTaskMemory(memory);
  inOtherThread([&] { giveBackTaskMemory(next = filled(8)); });
  EXPECT_EQ(next, memory);
}

TEST(TaskMemory, IsAlignedAndAsLargeAsAskedFor) {
  std::set<void*> all;
  for (size_t bytes = 1; bytes < 20000; bytes += 97) all.insert(filled(bytes));
  for (void* memory : all) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 16, 0u);
    giveBackTaskMemory(memory);
  }
  EXPECT_THROW(takeTaskMemory(SIZE_MAX), std::exception);
}

// More blocks than a thread keeps, and a thread that frees while another takes.
TEST(TaskMemory, TravelsBetweenThreads) {
  std::vector<void*> blocks(6000);
  for (int round = 0; round < 3; ++round) {
    for (void*& block : blocks) block = filled(64);
    std::thread other([&] {
      for (void* block : blocks) giveBackTaskMemory(block);
    });
    for (int i = 0; i < 2000; ++i) giveBackTaskMemory(filled(64));
    other.join();
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  }
}

}  // namespace
}  // namespace max
