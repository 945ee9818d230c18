// SPDX-License-Identifier: Apache-2.0
// A reduction over any axes as folds of rows or of columns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/shape.h"

namespace max {

// Dimensions with their strides, in elements of the input.
struct StridedDims {
  std::vector<int64_t> dims, strides;
  int64_t count() const;
  // The offset of an index into the flattened dimensions.
  int64_t offset(int64_t index) const;
};

struct ReduceLayout {
  bool rows = false;   // the innermost dimension is folded (rows); else it is kept (columns)
  int64_t inner = 1;   // elements of a row that are folded, or columns side by side
  StridedDims folded;  // reduced dimensions outside of `inner`
  StridedDims kept;    // kept dimensions outside of `inner`, in the output's order

  int64_t foldedPerOutput() const { return folded.count() * (rows ? inner : 1); }
};

// Dimensions of size 1 vanish; neighbours of one kind are merged.
ReduceLayout planReduction(const Shape& shape, const std::array<bool, kMaxRank>& reduced);

}  // namespace max
