// SPDX-License-Identifier: Apache-2.0
// The kernel for strided copies that would take many copies of the driver's own. It is made where the compilers are, in
// the folder of kernels.
#pragma once

#include <cstdint>
#include <utility>

#include "base/ref.h"
#include "base/shape.h"
#include "device/gpu/strided_plan.h"

namespace max::gpu {

class GpuDevice;

// What the kernel is told, as its source declares it.
struct StridedLayout {
  struct Dimension {
    uint64_t size;
    int64_t target;  // strides in bytes
    int64_t source;
  };
  static constexpr int kMostDims = kMaxRank + 2;

  uint64_t count = 0;  // units
  int32_t unit = 1;    // bytes that one thread copies at a time: 1, 2, 4 or 8
  int32_t rank = 0;
  Dimension dims[kMostDims] = {};  // the innermost first

  // The units are aligned at these addresses, at which the plan's elements begin.
  static StridedLayout of(const StridedPlan& plan, const void* target, const void* source);
};

class StridedKernel final : public RefCounted {
 public:
  StridedKernel(Ref<const RefCounted> code, void* function) : code_(std::move(code)), function_(function) {}
  // The driver's. Its arguments: target, source, StridedLayout.
  void* function() const { return function_; }

 private:
  Ref<const RefCounted> code_;
  void* function_;
};

// NULL if the device's API has no compiler here. Absent from programs that are linked without kernels.
[[gnu::weak]] Ref<StridedKernel> makeStridedKernel(GpuDevice& device);

}  // namespace max::gpu
