// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/strided_plan.h"

#include <limits>

namespace max::gpu {

namespace {

using Dimension = StridedPlan::Dimension;

// Drivers reject larger pitches.
constexpr int64_t kMaxPitch = std::numeric_limits<int32_t>::max();

bool canMerge(const Dimension& outer, const Dimension& inner) {
  return outer.target == inner.size * inner.target && outer.source == inner.size * inner.source;
}

// Dimensions without size 1, ordered so that the target moves forward, with neighbours merged.
std::vector<Dimension> normalized(const StridedCopy& copy, StridedPlan& plan) {
  std::vector<Dimension> dims;
  for (int i = 0; i < copy.shape.rank(); ++i) {
    Dimension dim{copy.shape[i], copy.targetStrides[i], copy.sourceStrides[i]};
    if (dim.size == 1) continue;
    if (dim.target < 0) {
      plan.targetStart += (dim.size - 1) * dim.target;
      plan.sourceStart += (dim.size - 1) * dim.source;
      dim.target = -dim.target;
      dim.source = -dim.source;
    }
    if (!dims.empty() && canMerge(dims.back(), dim))
      dims.back() = {dims.back().size * dim.size, dim.target, dim.source};
    else
      dims.push_back(dim);
  }
  return dims;
}

bool isRowDistance(int64_t stride, size_t width) {
  return stride >= static_cast<int64_t>(width) && stride <= kMaxPitch;
}

// The longest dimension that is the rows of a rectangle on both sides; the number of dimensions = none.
size_t rowDimension(const std::vector<Dimension>& dims, size_t width) {
  size_t best = dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!isRowDistance(dims[i].target, width) || !isRowDistance(dims[i].source, width)) continue;
    if (best == dims.size() || dims[i].size > dims[best].size) best = i;
  }
  return best;
}

}  // namespace

StridedPlan StridedPlan::of(const StridedCopy& copy) {
  StridedPlan plan;
  plan.width = copy.elementSize;
  std::vector<Dimension> dims = normalized(copy, plan);
  const auto element = static_cast<int64_t>(copy.elementSize);
  if (!dims.empty() && dims.back().target == element && dims.back().source == element) {
    plan.width *= static_cast<size_t>(dims.back().size);
    dims.pop_back();
  }
  plan.targetPitch = plan.sourcePitch = plan.width;
  if (const size_t row = rowDimension(dims, plan.width); row < dims.size()) {
    plan.height = static_cast<size_t>(dims[row].size);
    plan.targetPitch = static_cast<size_t>(dims[row].target);
    plan.sourcePitch = static_cast<size_t>(dims[row].source);
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(row));
  }
  plan.outer = std::move(dims);
  return plan;
}

uint64_t StridedPlan::calls() const {
  uint64_t calls = 1;
  for (const Dimension& dim : outer) calls *= static_cast<uint64_t>(dim.size);
  return calls;
}

void StridedPlan::forEach(FunctionRef<void(int64_t, int64_t)> copyBlock) const {
  std::vector<int64_t> index(outer.size(), 0);
  int64_t target = targetStart, source = sourceStart;
  while (true) {
    copyBlock(target, source);
    size_t d = outer.size();
    while (d > 0) {
      const Dimension& dim = outer[--d];
      target += dim.target;
      source += dim.source;
      if (++index[d] < dim.size) break;
      target -= dim.size * dim.target;
      source -= dim.size * dim.source;
      index[d] = 0;
      if (d == 0) return;
    }
    if (outer.empty()) return;
  }
}

}  // namespace max::gpu
