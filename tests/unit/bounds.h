// SPDX-License-Identifier: Apache-2.0
// How far the results of fast kernels may be from those of plain ones, which compute in float64: of each element,
// relative to 1 + |expected|. docs/numerics.md has the same table, and tests/docs compares the two.
#pragma once

#include <limits>

#include "base/dtype.h"

namespace max::test {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // no fast kernel has this type

struct Bounds {
  const char* row;  // in the document
  double float32, float64, float16, bfloat16;

  double of(DType dtype) const {
    switch (dtype) {
      case DType::Float32:
        return float32;
      case DType::Float64:
        return float64;
      case DType::Float16:
        return float16;
      case DType::BFloat16:
        return bfloat16;
      default:
        return 0;  // types that are only converted
    }
  }
};

inline constexpr Bounds kExact{"exact", 0, 0, 0, 0};
inline constexpr Bounds kSingle{"single", 1e-6, 1e-15, 1e-3, 8e-3};
inline constexpr Bounds kSums{"sums", 1e-5, 1e-13, 1e-3, 8e-3};
inline constexpr Bounds kTransforms{"transforms", 1e-4, 1e-12, kNone, kNone};
inline constexpr Bounds kDifferences{"differences", 5e-4, kNone, kNone, kNone};

}  // namespace max::test
