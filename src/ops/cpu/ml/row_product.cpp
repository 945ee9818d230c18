// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/ml/row_product.h"

#include <algorithm>

#include "base/interrupt_point.h"

namespace max::ml {

namespace {

// In about as many steps, of a vector of eight lanes: a tile multiplies each element of a row by vectors of columns, a
// sum goes along vectors of the row, whose lanes are added up in kStepsOfSum.
bool tilesAreFaster(int64_t columns, int64_t depth) {
  constexpr int64_t kLanes = 8, kStepsOfSum = 20;
  const int64_t tiles = (columns + kLanes - 1) / kLanes * depth, sums = (depth / kLanes + kStepsOfSum) * columns;
  return tiles < sums;
}

constexpr Epilogue kPlain{};

}  // namespace

RowProduct::RowProduct(std::span<const float> matrix, int64_t columns)
    : table_(&gemmTable()),
      matrix_(matrix.data()),
      columns_(columns),
      depth_(static_cast<int64_t>(matrix.size()) / std::max<int64_t>(columns, 1)) {
  if (columns_ == 0 || depth_ == 0 || !tilesAreFaster(columns_, depth_)) return;
  panels_.emplace(table_->lanes, table_->panelVectors, columns_);
  packed_.resize(static_cast<size_t>(packedCount(*table_, depth_, columns_)));
  packMatrix(*table_, {matrix_, 1, depth_, 1, depth_, columns_}, packed_.data(), 1);
}

void RowProduct::run(const float* const* rows, int64_t count, float* out) const {
  if (panels_) return runTiles(rows, count, out);
  runSums(rows, count, out);
}

// Four sums at once: of columns, or else of rows, where they follow each other in memory.
void RowProduct::runSums(const float* const* rows, int64_t count, float* out) const {
  constexpr int64_t kAtOnce = 4;
  const auto isNext = [&](const float* const& row) { return (&row)[1] == row + depth_; };
  for (int64_t i = 0; i < count;) {
    const bool areDense = columns_ < kAtOnce && count - i >= kAtOnce && std::all_of(rows + i, rows + i + 3, isNext);
    if (!areDense) {
      table_->dot(rows[i], matrix_, depth_, depth_, columns_, out + i * columns_);
      ++i;
      continue;
    }
    for (int64_t n = 0; n < columns_; ++n) {
      float sums[kAtOnce];
      table_->dot(matrix_ + n * depth_, rows[i], depth_, depth_, kAtOnce, sums);
      for (int64_t row = 0; row < kAtOnce; ++row) out[(i + row) * columns_ + n] = sums[row];
    }
    i += kAtOnce;
  }
}

void RowProduct::runTiles(const float* const* rows, int64_t count, float* out) const {
  const Panels& panels = *panels_;
  WorkCounter work;
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    const int64_t column = panels.begin(panel), width = panels.width(panel);
    const float* b = packed_.data() + column * depth_;
    GemmTile tile{
        nullptr, 0,    1,       depth_,  b,       width, nullptr, columns_, std::min(width, columns_ - column),
        false,   true, &kPlain, nullptr, nullptr, 0,     b,       0};
    for (int64_t m = 0; m < count; m += table_->tileRows, work.pass(depth_)) {
      const int64_t some = std::min<int64_t>(table_->tileRows, count - m);
      tile.rows = rows + m;
      tile.c = out + m * columns_ + column;
      table_->tile(some, width)(tile);
    }
  }
}

}  // namespace max::ml
