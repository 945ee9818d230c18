// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/error.h"
#include "executor/arena.h"

namespace max {
namespace {

TEST(Arena, ReusesWhatIsFree) {
  ArenaPlanner arena;
  const size_t a = arena.allocate(100), b = arena.allocate(100);
  EXPECT_EQ(a, 0u);
  EXPECT_EQ(b, 128u);
  arena.release(a, 100);
  EXPECT_EQ(arena.allocate(128), a);
  EXPECT_EQ(arena.size(), 256u);
}

TEST(Arena, TheBestFittingGapWins) {
  ArenaPlanner arena;
  const size_t large = arena.allocate(640), wall = arena.allocate(64), small = arena.allocate(128);
  arena.allocate(64);
  arena.release(large, 640);
  arena.release(small, 128);
  EXPECT_EQ(arena.allocate(100), small);
  EXPECT_EQ(arena.allocate(600), large);
  EXPECT_LT(wall, small);
}

TEST(Arena, NeighbouringGapsJoinAndTheLastOneGrows) {
  ArenaPlanner arena;
  const size_t a = arena.allocate(64), b = arena.allocate(64), c = arena.allocate(64);
  arena.release(a, 64);
  arena.release(c, 64);
  arena.release(b, 64);
  EXPECT_EQ(arena.allocate(192), 0u);
  arena.release(0, 192);
  EXPECT_EQ(arena.allocate(1000), 0u);
  EXPECT_EQ(arena.size(), 1024u);
}

TEST(Arena, EmptyValuesHavePlacesOfTheirOwn) {
  ArenaPlanner arena;
  EXPECT_NE(arena.allocate(0), arena.allocate(0));
}

TEST(Arena, OverflowIsAnError) {
  ArenaPlanner arena;
  EXPECT_THROW(arena.allocate(SIZE_MAX - 10), Error);
  arena.allocate(64);
  EXPECT_THROW(arena.allocate(SIZE_MAX - 100), Error);
}

TEST(Arena, LivingValuesNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    ArenaPlanner arena;
    struct Block {
      size_t offset, bytes;
    };
    std::vector<Block> living;
    for (int i = 0; i < 200; ++i) {
      if (!living.empty() && random() % 2) {
        const size_t victim = random() % living.size();
        arena.release(living[victim].offset, living[victim].bytes);
        living.erase(living.begin() + static_cast<std::ptrdiff_t>(victim));
        continue;
      }
      const size_t bytes = random() % 2000;
      const size_t offset = arena.allocate(bytes);
      ASSERT_EQ(offset % kArenaAlignment, 0u);
      ASSERT_LE(offset + bytes, arena.size());
      for (const Block& other : living)
        ASSERT_TRUE(offset + bytes <= other.offset || other.offset + other.bytes <= offset);
      living.push_back({offset, bytes});
    }
  }
}

}  // namespace
}  // namespace max
