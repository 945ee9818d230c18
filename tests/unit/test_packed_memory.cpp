// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/active_call.h"
#include "base/align.h"
#include "base/forbid.h"
#include "base/huge_pages.h"
#include "base/load_budget.h"
#include "base/packed_memory.h"
#include "base/pages.h"

namespace max {
namespace {

const auto addressOf = [](const Ref<Storage>& block) { return reinterpret_cast<uintptr_t>(block->data()); };

TEST(PackedMemory, BlocksFollowEachOtherInHugePages) {
  PackedMemory memory(4 * kHugePage);
  const Ref<Storage> first = memory.allocate(100), second = memory.allocate(1 << 20), third = memory.allocate(64);
  EXPECT_EQ(addressOf(first) % kHugePage, 0u);
  EXPECT_EQ(addressOf(second), addressOf(first) + 128);
  EXPECT_EQ(addressOf(third), addressOf(second) + (1 << 20));
  EXPECT_EQ(second->size(), size_t{1} << 20);
  for (const Ref<Storage>& block : {first, second, third}) std::memset(block->data(), 1, block->size());
}

TEST(PackedMemory, MoreThanExpectedStartsAnotherMapping) {
  PackedMemory memory(2 * kHugePage);
  std::vector<Ref<Storage>> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(memory.allocate(kHugePage - 64));
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::memset(blocks[i]->data(), static_cast<int>(i), blocks[i]->size());
    for (size_t j = 0; j < i; ++j)
      EXPECT_GE(std::max(addressOf(blocks[i]), addressOf(blocks[j])),
                std::min(addressOf(blocks[i]), addressOf(blocks[j])) + kHugePage - 64);
  }
}

TEST(PackedMemory, BlocksOutliveIt) {
  Ref<Storage> block;
  {
    PackedMemory memory(2 * kHugePage);
    memory.allocate(1 << 16);
    block = memory.allocate(1 << 16);
  }
  std::memset(block->data(), 1, block->size());
}

TEST(PackedMemory, FewBytesAndTheLargestBlocksLieElsewhere) {
  PackedMemory few(100), memory(4 * kHugePage);
  const Ref<Storage> small = few.allocate(100), start = memory.allocate(64), large = memory.allocate(size_t{33} << 20);
  EXPECT_EQ(few.allocate(0)->size(), 0u);
  EXPECT_NE(addressOf(small) % kHugePage, 0u);
  EXPECT_TRUE(addressOf(large) + large->size() <= addressOf(start) ||
              addressOf(large) >= addressOf(start) + 4 * kHugePage);
}

TEST(PackedMemory, ManyBytesLieInHugePagesWhetherExpectedOrNot) {
  PackedMemory memory(100);
  memory.allocate(kHugePage / 2);
  const Ref<Storage> first = memory.allocate(3 * kHugePage), second = memory.allocate(kHugePage);
  EXPECT_EQ(addressOf(first) % kHugePage, 0u);
  EXPECT_EQ(addressOf(second), addressOf(first) + 3 * kHugePage);
  std::memset(second->data(), 1, second->size());
}

// Of the pages of memory, those that exist.
size_t residentPages(const void* data, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = alignUp(reinterpret_cast<uintptr_t>(data), kPage);
  const size_t count = (reinterpret_cast<uintptr_t>(data) + bytes - first) / kPage;
  std::vector<unsigned char> resident(count);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(first), count * kPage, resident.data()), 0);
  return static_cast<size_t>(std::count_if(resident.begin(), resident.end(), [](unsigned char p) { return p & 1; }));
}

// Older kernels have the faults.
bool canPopulate() {
  const Ref<Storage> block = allocateLastingStorage(1 << 20);
  populateForWriting(block->data(), block->size());
  return residentPages(block->data(), block->size()) != 0;
}

TEST(PackedMemory, MostOfAHugePageTakesOne) {
  PackedMemory memory(kHugePage / 4 * 3);
  EXPECT_EQ(addressOf(memory.allocate(100)) % kHugePage, 0u);
  EXPECT_EQ(addressOf(allocateLastingStorage(kHugePage / 4 * 3)) % kHugePage, 0u);
  EXPECT_EQ(addressOf(allocateLastingStorage(kHugePage + 100)) % kHugePage, 0u);
}

TEST(PackedMemory, SmallBlocksHaveTheirPages) {
  if (!canPopulate()) GTEST_SKIP() << "the kernel gives no pages before their use";
  PackedMemory memory(100);
  const Ref<Storage> block = memory.allocate(1 << 20);
  EXPECT_GE(residentPages(block->data(), block->size()), 255u);
}

TEST(PackedMemory, WhatALoadMakesHasItsPages) {
  if (kForbidsMemory || !canPopulate()) GTEST_SKIP() << "the heap is another one, or the kernel gives no pages";
  const size_t bytes = (size_t{3} << 19) - 4096;
  LoadBudget budget(1 << 20);
  const LoadBudgetScope scope(&budget);
  const Ref<Storage> block = allocateStorage(bytes);
  EXPECT_GE(residentPages(block->data(), bytes), bytes / 4096 - 1);
}

TEST(PackedMemory, IsThatOfTheActiveCall) {
  PackedMemory memory(4 * kHugePage);
  ActiveCall call;
  call.packed = &memory;
  const Ref<Storage> before = allocatePackedStorage(64);
  const ActiveCallScope scope(&call);
  const Ref<Storage> first = allocatePackedStorage(64), second = allocatePackedStorage(64);
  EXPECT_EQ(addressOf(second), addressOf(first) + 64);
  EXPECT_NE(addressOf(before), addressOf(first) - 64);
}

TEST(PackedMemory, IsChargedToTheCallsAccount) {
  const auto account = makeRef<MemoryAccount>("Out of memory here", uint64_t{1} << 20);
  ActiveCall call;
  call.memory = account.get();
  const ActiveCallScope scope(&call);
  PackedMemory memory(4 * kHugePage);
  Ref<Storage> block = memory.allocate(1 << 19);
  EXPECT_EQ(account->used(), uint64_t{1} << 19);
  EXPECT_ANY_THROW(memory.allocate((1 << 19) + 1));
  block = nullptr;
  EXPECT_EQ(account->used(), 0u);
}

}  // namespace
}  // namespace max
