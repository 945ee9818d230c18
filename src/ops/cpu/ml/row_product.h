// SPDX-License-Identifier: Apache-2.0
// Products of rows of features with a constant matrix: linear models, and support vectors.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/cpu/matrix/gemm.h"

namespace max::ml {

// A matrix [columns, depth]: packed for the tiles of the matrix product, or read as it is where a vector of columns
// would be mostly padding and adding up the lanes of a sum is little of the work.
class RowProduct {
 public:
  RowProduct() = default;
  RowProduct(std::span<const float> matrix, int64_t columns);  // outlives it

  size_t bytes() const { return packed_.size() * sizeof(float); }
  // out[i, n] = rows[i] * matrix[n]
  void run(const float* const* rows, int64_t count, float* out) const;

 private:
  void runTiles(const float* const* rows, int64_t count, float* out) const;
  void runSums(const float* const* rows, int64_t count, float* out) const;

  const GemmTable* table_ = nullptr;
  const float* matrix_ = nullptr;
  int64_t columns_ = 0, depth_ = 0;
  std::optional<Panels> panels_;  // none: see matrix_
  std::vector<float> packed_;
};

}  // namespace max::ml
