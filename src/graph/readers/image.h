// SPDX-License-Identifier: Apache-2.0
// Attributes of operators that sample images or regions of them.
#pragma once

#include <array>
#include <cstdint>

#include "graph/attributes.h"

namespace max::readers {

enum class GridMode : uint8_t { Nearest, Linear, Cubic };
enum class GridPadding : uint8_t { Zeros, Border, Reflection };

// GridSample.
struct Grid {
  GridMode mode;
  GridPadding padding;
  bool alignsCorners;

  explicit Grid(const Attributes& attributes);
  int taps() const { return mode == GridMode::Nearest ? 1 : mode == GridMode::Linear ? 2 : kMostTaps; }
  static constexpr int kMostTaps = 4;
};

// RoiAlign.
struct AlignedRegions {
  int64_t height, width;  // of the output
  float scale;
  bool isHalfPixel, takesMax;
  int64_t samples;  // along each axis of a bin; 0 = adapted to the bin

  explicit AlignedRegions(const Attributes& attributes);
};

// MaxRoiPool.
struct PooledRegions {
  std::array<int64_t, 2> size;  // of the output, 1 to 65536 each
  float scale;

  explicit PooledRegions(const Attributes& attributes);
};

}  // namespace max::readers
