// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/strided_kernel.h"

#include <algorithm>

namespace max::gpu {

namespace {

constexpr uint64_t kLargestUnit = 8;

}  // namespace

StridedLayout StridedLayout::of(const StridedPlan& plan, const void* target, const void* source) {
  StridedLayout layout;
  uint64_t bits = kLargestUnit | plan.width | reinterpret_cast<uintptr_t>(target) | reinterpret_cast<uintptr_t>(source);
  layout.rank = 1;
  const auto add = [&](size_t size, int64_t targetStride, int64_t sourceStride) {
    layout.dims[layout.rank++] = {size, targetStride, sourceStride};
    bits |= static_cast<uint64_t>(targetStride) | static_cast<uint64_t>(sourceStride);
  };
  if (plan.height > 1) add(plan.height, static_cast<int64_t>(plan.targetPitch), static_cast<int64_t>(plan.sourcePitch));
  std::for_each(plan.outer.rbegin(), plan.outer.rend(),
                [&](const StridedPlan::Dimension& dim) { add(static_cast<size_t>(dim.size), dim.target, dim.source); });
  const uint64_t unit = bits & -bits;
  layout.unit = static_cast<int32_t>(unit);
  layout.dims[0] = {plan.width / unit, layout.unit, layout.unit};
  layout.count = 1;
  for (int i = 0; i < layout.rank; ++i) layout.count *= layout.dims[i].size;
  return layout;
}

}  // namespace max::gpu
