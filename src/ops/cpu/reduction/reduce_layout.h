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
  // The innermost dimension is folded: each output is a row of `size` elements. Otherwise it is a column.
  bool rows = false;
  int64_t size = 1;         // elements of a row
  int64_t width = 1;        // outputs side by side: the innermost kept dimension
  int64_t widthStride = 1;  // between their elements
  StridedDims folded;       // reduced dimensions, those of `rows` without the innermost
  StridedDims kept;         // kept dimensions outside of `width`, in the output's order
};

// Dimensions of size 1 vanish; neighbours of one kind are merged.
ReduceLayout planReduction(const Shape& shape, const std::array<bool, kMaxRank>& reduced);

}  // namespace max
