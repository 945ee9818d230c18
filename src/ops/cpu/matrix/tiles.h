// SPDX-License-Identifier: Apache-2.0
// The shape of AMX's eight tiles: registers of up to 16 rows of 64 bytes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace max {

struct TileLimits {
  static constexpr int64_t kRows = 16, kRowBytes = 64, kWords = kRowBytes / 4;
};

// What LDTILECFG reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1, startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};
};

// Tile numbers of a block of 32 x 32 sums: 2 x 2 tiles of sums, two of A and two of B.
struct BlockTiles {
  static constexpr int kSums = 0, kA = 4, kB = 6;
  static constexpr int64_t kRows = 2 * TileLimits::kRows, kColumns = 2 * TileLimits::kWords;

  // For blocks of that many rows. Tiles of B have all rows, sums all columns.
  static TileConfig configFor(int64_t rows) {
    TileConfig config;
    const auto set = [&](int tile, int64_t count) {
      config.rows[tile] = static_cast<uint8_t>(count);
      config.rowBytes[tile] = count > 0 ? TileLimits::kRowBytes : 0;
    };
    for (int half = 0; half < 2; ++half) {
      const int64_t own = std::clamp<int64_t>(rows - half * TileLimits::kRows, 0, TileLimits::kRows);
      for (const int tile : {kSums + 2 * half, kSums + 2 * half + 1, kA + half}) set(tile, own);
      set(kB + half, TileLimits::kRows);
    }
    return config;
  }
};

// The configuration that a thread has loaded for its part of a product. Tiles are released at the end: the thread
// belongs to someone else, and the kernel saves tiles in use at each switch of threads.
class HeldTiles {
 public:
  HeldTiles() = default;
  HeldTiles(const HeldTiles&) = delete;
  HeldTiles& operator=(const HeldTiles&) = delete;
  ~HeldTiles() {
    if (release_) release_();
  }

  template <class Tiles>
  void shapeFor(int64_t rows) {
    if (rows == rows_) return;
    Tiles::configure(BlockTiles::configFor(rows));
    release_ = Tiles::release;
    rows_ = rows;
  }

 private:
  void (*release_)() = nullptr;
  int64_t rows_ = 0;
};

}  // namespace max
