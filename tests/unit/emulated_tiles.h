// SPDX-License-Identifier: Apache-2.0
// AMX's instructions on tiles in plain C++, as Intel's manual defines them. What would be an exception of the processor
// is a failure of the test.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "ops/cpu/matrix/tile_product.h"

namespace max::test {

class EmulatedTiles {
 public:
  static void configure(const TileConfig& config) {
    State& s = state();
    EXPECT_EQ(config.palette, 1);
    EXPECT_EQ(config.startRow, 0);
    for (const uint8_t byte : config.reserved) EXPECT_EQ(byte, 0);
    for (int tile = 0; tile < 16; ++tile) {
      const bool isUsed = config.rows[tile] != 0;
      EXPECT_EQ(isUsed, config.rowBytes[tile] != 0) << tile;
      EXPECT_TRUE(tile < kTiles || !isUsed) << tile;
      EXPECT_LE(config.rows[tile], TileLimits::kRows) << tile;
      EXPECT_LE(config.rowBytes[tile], TileLimits::kRowBytes) << tile;
      if (tile >= kTiles) continue;
      std::memset(s.tiles[tile], 0, sizeof(s.tiles[tile]));
      s.rows[tile] = config.rows[tile];
      s.rowBytes[tile] = config.rowBytes[tile];
    }
    if (!std::exchange(s.isConfigured, true)) ++holders();
    ++configurations();
  }
  static void release() {
    if (state().isConfigured) --holders();
    state() = {};
  }

  template <int kTile>
  static void zero() {
    expectConfigured(kTile);
    std::memset(state().tiles[kTile], 0, sizeof(state().tiles[kTile]));
  }

  // Rows above those of the configuration, and bytes behind those of a row, become zero.
  template <int kTile>
  static void load(const std::byte* from, int64_t stride) {
    expectConfigured(kTile);
    zero<kTile>();
    State& s = state();
    for (int row = 0; row < s.rows[kTile]; ++row, from += stride)
      std::memcpy(s.tiles[kTile][row], from, static_cast<size_t>(s.rowBytes[kTile]));
  }
  template <int kTile>
  static void store(std::byte* to, int64_t stride) {
    expectConfigured(kTile);
    const State& s = state();
    for (int row = 0; row < s.rows[kTile]; ++row, to += stride)
      std::memcpy(to, s.tiles[kTile][row], static_cast<size_t>(s.rowBytes[kTile]));
  }

  // TDPBF16PS: even and odd elements are summed up apart, and then added to the sum.
  template <int kSum, int kA, int kB>
  static void dotPairs() {
    expectShapes(kSum, kA, kB);
    addPairs(state(), kSum, kA, kB);
  }

  // TDPBUSD: bytes of A are unsigned, those of B signed; sums wrap.
  template <int kSum, int kA, int kB>
  static void dotBytes() {
    expectShapes(kSum, kA, kB);
    addBytes(state(), kSum, kA, kB);
  }

  template <class T>
  static void copyRows(const RowWords<T>& from, int64_t count, std::byte* to) {
    for (int64_t i = 0; i < count * TileLimits::kWords; ++i, to += 4) {
      const int64_t row = i / TileLimits::kWords, k = i % TileLimits::kWords, word = from.word + k;
      std::memset(to, 0, 4);
      if (k >= from.some) continue;
      const T* piece = from.rows[word / from.words * from.pieceStride + row] + from.offset;
      std::memcpy(to, reinterpret_cast<const std::byte*>(piece) + 4 * (word % from.words), 4);
    }
  }

  // Threads that have not released their tiles.
  static std::atomic<int>& holders() {
    static std::atomic<int> count = 0;
    return count;
  }
  // Of this thread.
  static int64_t& configurations() {
    static thread_local int64_t count = 0;
    return count;
  }

 private:
  static constexpr int kTiles = 8;

  struct State {
    bool isConfigured = false;
    int rows[kTiles] = {}, rowBytes[kTiles] = {};
    uint8_t tiles[kTiles][TileLimits::kRows][TileLimits::kRowBytes] = {};

    template <class T>
    T get(int tile, int row, int column) const {
      T value;
      std::memcpy(&value, tiles[tile][row] + 4 * column, sizeof(value));
      return value;
    }
    template <class T>
    void set(int tile, int row, int column, T value) {
      std::memcpy(tiles[tile][row] + 4 * column, &value, sizeof(value));
    }
  };
  static State& state() {
    static thread_local State state;
    return state;
  }

  // What takes nearly all time of such tests is in emulated_tiles.cpp, which is optimised in all builds.
  static void addPairs(State& s, int sum, int a, int b);
  static void addBytes(State& s, int sum, int a, int b);

  static void expectConfigured(int tile) { ASSERT_GT(state().rows[tile], 0) << "tile " << tile << " has no shape"; }
  static void expectShapes(int sum, int a, int b) {
    const State& s = state();
    for (const int tile : {sum, a, b}) expectConfigured(tile);
    EXPECT_TRUE(sum != a && sum != b && a != b);
    EXPECT_EQ(s.rows[a], s.rows[sum]);
    EXPECT_EQ(s.rowBytes[a] / 4, s.rows[b]);
    EXPECT_EQ(s.rowBytes[b], s.rowBytes[sum]);
  }
};

}  // namespace max::test
