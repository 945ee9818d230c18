// SPDX-License-Identifier: Apache-2.0
// Products with AMX's tiles: which words they read and in which tiles, on every machine through an emulation.
#include <random>
#include <vector>

#include "base/half.h"
#include "emulated_tiles.h"
#include "ops/cpu/matrix/amx_tiles.h"
#include "ops/cpu/target.h"

namespace max::test {
namespace {

TEST(Tiles, ConfigurationIsWhatTheProcessorReads) {
  static_assert(sizeof(TileConfig) == 64);
  for (const int64_t rows : {1, 15, 16, 17, 31, 32}) {
    const TileConfig config = BlockTiles::configFor(rows);
    uint8_t bytes[64];
    std::memcpy(bytes, &config, sizeof(bytes));
    EXPECT_EQ(bytes[0], 1);
    for (int i = 1; i < 16; ++i) EXPECT_EQ(bytes[i], 0);
    const int64_t top = std::min<int64_t>(rows, 16), below = rows - top;
    const int64_t expected[] = {top, top, below, below, top, below, 16, 16};
    for (int tile = 0; tile < 16; ++tile) {
      EXPECT_EQ(bytes[48 + tile], tile < 8 ? expected[tile] : 0) << rows << ", tile " << tile;
      EXPECT_EQ(bytes[16 + 2 * tile] + 256 * bytes[17 + 2 * tile], tile < 8 && expected[tile] ? 64 : 0) << tile;
    }
  }
}

TEST(Tiles, PairsAreRoundedAsTheInstructionRounds) {
  EmulatedTiles::configure(BlockTiles::configFor(1));
  const auto product = [](std::vector<float> a, std::vector<float> b, float sum) {
    alignas(64) uint16_t rowA[32] = {}, rowsB[16][32] = {};
    for (size_t k = 0; k < a.size(); ++k) {
      rowA[k] = bfloat16FromFloat(a[k]);
      rowsB[k / 2][k % 2] = bfloat16FromFloat(b[k]);
    }
    alignas(64) float sums[16] = {sum};
    EmulatedTiles::load<0>(reinterpret_cast<std::byte*>(sums), 64);
    EmulatedTiles::load<4>(reinterpret_cast<std::byte*>(rowA), 64);
    EmulatedTiles::load<6>(reinterpret_cast<std::byte*>(rowsB), 64);
    EmulatedTiles::dotPairs<0, 4, 6>();
    EmulatedTiles::store<0>(reinterpret_cast<std::byte*>(sums), 64);
    return sums[0];
  };
  EXPECT_EQ(product({2, 3, 5}, {7, 11, 13}, 100), 100 + 14 + 33 + 65);
  // Even and odd elements have sums of their own: 1 is not lost beside 2^24, only when these meet.
  EXPECT_EQ(product({16777216, 1, -16777216}, {1, 1, 1}, 0), 1);
  EXPECT_EQ(product({16777216, 0, 1, 0, -16777216}, {1, 0, 1, 0, 1}, 0), 0);
  // Numbers below the least normal one count as zero, as operands, in between and at the end.
  EXPECT_EQ(product({1e-39f}, {1e10f}, 0), 0);
  EXPECT_EQ(product({1e-30f}, {1e-9f}, 0), 0);
  EXPECT_EQ(product({0}, {0}, 1e-39f), 0);
  EmulatedTiles::release();
}

struct Sizes {
  int64_t rows, columns, pieces, words;
};

// Rows in pieces of bytes, at distances that are equal or not, and B between bytes that nothing may read.
class Product {
 public:
  Product(std::mt19937& random, const Sizes& sizes, bool isEven, int64_t offset) : sizes_(sizes), offset_(offset) {
    const int64_t each = offset + 4 * sizes.words, step = each + 12;
    a_.resize(static_cast<size_t>(2 * (sizes.pieces * sizes.rows + 1) * step));
    for (uint8_t& byte : a_) byte = static_cast<uint8_t>(random());
    b_.resize(static_cast<size_t>(sizes.pieces * sizes.words * kStride));
    for (int8_t& byte : b_) byte = static_cast<int8_t>(random());
    for (int64_t i = 0; i < sizes.pieces * kPieceStride; ++i) {
      const int64_t row = i % kPieceStride, at = i / kPieceStride * sizes.rows + row;
      const int64_t gap = isEven ? 0 : static_cast<int64_t>(random() % 2) * sizes.pieces * sizes.rows;
      rows_.push_back(row < sizes.rows ? a_.data() + (at + gap) * step : nullptr);
    }
  }

  // The piece adds nothing.
  void drop(int64_t piece) { rows_[static_cast<size_t>(piece * kPieceStride)] = nullptr; }

  void check(const std::string& what) const {
    checkSums(what);
#if defined(__x86_64__)
    if (cpuTarget() >= CpuTarget::Avx512) checkCopies(what);
#endif
  }

  void checkSums(const std::string& what) const {
    checkWith<EmulatedTiles>(what);
    EXPECT_EQ(EmulatedTiles::holders(), 0);
#if defined(__x86_64__)
    if (cpuTarget() >= CpuTarget::Amx) checkWith<AmxTiles>(what + " with AMX");
#endif
  }

 private:
  static constexpr int64_t kPieceStride = 33, kStride = 128;

#if defined(__x86_64__)
  // The processor's copies of tiles at all places.
  void checkCopies(const std::string& what) const {
    for (int64_t first = 0; first < sizes_.pieces * sizes_.words; ++first) {
      const int64_t piece = first / sizes_.words, word = first % sizes_.words;
      const int64_t some = std::min(TileLimits::kWords, sizes_.pieces * sizes_.words - first);
      const RowWords<uint8_t> from{
          rows_.data() + piece * kPieceStride, offset_, kPieceStride, sizes_.words, word, some};
      alignas(64) std::byte expected[1024], actual[1024];
      const int64_t count = std::min(sizes_.rows, TileLimits::kRows);
      EmulatedTiles::copyRows(from, count, expected);
      AmxTiles::copyRows(from, count, actual);
      ASSERT_EQ(std::memcmp(actual, expected, static_cast<size_t>(count * 64)), 0) << what << ": word " << first;
    }
  }
#endif

  template <class Tiles>
  void checkWith(const std::string& what) const {
    const TileWords<uint8_t> words{rows_.data(), offset_,   sizes_.rows, sizes_.pieces, kPieceStride,
                                   sizes_.words, b_.data(), kStride,     nullptr,       0};
    alignas(64) int32_t sums[32][33];
    {
      HeldTiles held;
      sumProducts<Tiles, DotBytes, uint8_t>(words, sizes_.columns, held, sums, sizeof(sums[0]));
    }
    for (int64_t m = 0; m < sizes_.rows; ++m)
      for (int64_t n = 0; n < sizes_.columns; ++n)
        ASSERT_EQ(sums[m][n], expected(m, n)) << what << ": " << m << ", " << n;
  }

  int32_t expected(int64_t m, int64_t n) const {
    int32_t sum = 0;
    for (int64_t piece = 0; piece < sizes_.pieces; ++piece)
      for (int64_t k = 0; k < 4 * sizes_.words && rows_[static_cast<size_t>(piece * kPieceStride)]; ++k)
        sum += rows_[static_cast<size_t>(piece * kPieceStride + m)][offset_ + k] *
               b_[static_cast<size_t>((piece * sizes_.words + k / 4) * kStride + 4 * n + k % 4)];
    return sum;
  }

  Sizes sizes_;
  int64_t offset_;
  std::vector<uint8_t> a_;
  std::vector<int8_t> b_;
  std::vector<const uint8_t*> rows_;
};

TEST(Tiles, BlocksOfAllShapesAddUpTheirWords) {
  std::mt19937 random(1);
  const auto check = [&](const Sizes& sizes) {
    for (const bool isEven : {false, true})
      for (const int64_t offset : {0, 20})
        Product(random, sizes, isEven, offset)
            .check(std::to_string(sizes.rows) + " x " + std::to_string(sizes.columns) + ", " +
                   std::to_string(sizes.pieces) + " pieces of " + std::to_string(sizes.words));
  };
  for (const int64_t rows : {1, 2, 15, 16, 17, 18, 31, 32})
    for (const int64_t columns : {1, 15, 16, 17, 32})
      for (const int64_t words : {1, 15, 16, 17, 33}) check({rows, columns, 1, words});
  for (const int64_t pieces : {2, 3, 9})
    for (const int64_t words : {1, 3, 8, 16, 20, 32}) check({20, 32, pieces, words});
}

TEST(Tiles, PiecesWithoutRowsAddNothing) {
  std::mt19937 random(2);
  for (const int64_t words : {3, 16, 20}) {
    Product product(random, {19, 30, 6, words}, false, 0);
    for (const int64_t piece : {0, 2, 3, 5}) product.drop(piece);
    product.checkSums(std::to_string(words) + " words");
  }
}

TEST(Tiles, OneConfigurationServesBlocksOfOneShape) {
  HeldTiles held;
  const int64_t before = EmulatedTiles::configurations();
  for (const int64_t rows : {20, 20, 20, 19, 19}) held.shapeFor<EmulatedTiles>(rows);
  EXPECT_EQ(EmulatedTiles::configurations() - before, 2);
}

}  // namespace
}  // namespace max::test
