// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/reduction/reduce_layout.h"

namespace max {

int64_t StridedDims::count() const {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

int64_t StridedDims::offset(int64_t index) const {
  int64_t result = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    result += index % dims[i] * strides[i];
    index /= dims[i];
  }
  return result;
}

ReduceLayout planReduction(const Shape& shape, const std::array<bool, kMaxRank>& reduced) {
  struct Group {
    int64_t size, stride;
    bool reduced;
  };
  std::vector<Group> groups;  // innermost first
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; stride *= shape[i--]) {
    const bool isReduced = reduced[static_cast<size_t>(i)];
    if (shape[i] == 1) continue;
    if (!groups.empty() && groups.back().reduced == isReduced)
      groups.back().size *= shape[i];
    else
      groups.push_back({shape[i], stride, isReduced});
  }
  ReduceLayout layout;
  layout.rows = !groups.empty() && groups[0].reduced;
  if (layout.rows) layout.size = groups[0].size;
  for (size_t i = groups.size(); i-- > (layout.rows ? 1 : 0);) {
    StridedDims& target = groups[i].reduced ? layout.folded : layout.kept;
    target.dims.push_back(groups[i].size);
    target.strides.push_back(groups[i].stride);
  }
  if (!layout.kept.dims.empty()) {
    layout.width = layout.kept.dims.back();
    layout.widthStride = layout.kept.strides.back();
    layout.kept.dims.pop_back();
    layout.kept.strides.pop_back();
  }
  return layout;
}

}  // namespace max
