// SPDX-License-Identifier: Apache-2.0
// Strided copies as the rows and rectangles that drivers copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "device/memory.h"

namespace max::gpu {

// `height` rows of `width` bytes, once for every position in `outer`.
struct StridedPlan {
  struct Dimension {
    int64_t size;
    int64_t target;  // strides in bytes
    int64_t source;
  };

  size_t width = 0;
  size_t height = 1;
  size_t targetPitch = 0;
  size_t sourcePitch = 0;
  int64_t targetStart = 0;
  int64_t sourceStart = 0;
  std::vector<Dimension> outer;

  // `copy` has elements.
  static StridedPlan of(const StridedCopy& copy);
  // Number of rectangles.
  uint64_t calls() const;
  // Calls `copyBlock` with the offsets of both sides of every rectangle.
  void forEach(FunctionRef<void(int64_t, int64_t)> copyBlock) const;
};

}  // namespace max::gpu
