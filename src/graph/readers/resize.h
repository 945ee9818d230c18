// SPDX-License-Identifier: Apache-2.0
// Attributes of Resize.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace max::readers {

enum class Interpolation : uint8_t { Nearest, Linear, Cubic };
// How output coordinates map to the input.
enum class PixelPlace : uint8_t {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfCropAndResize,
  TfHalfPixelForNn,
};
enum class NearestPixel : uint8_t { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };
// How sizes that would change the aspect ratio are handled.
enum class AspectPolicy : uint8_t { Stretch, NotLarger, NotSmaller };

struct Resize {
  std::vector<int> axes;  // in [0, rank), distinct
  Interpolation interpolation;
  PixelPlace place;
  NearestPixel nearest;
  AspectPolicy policy;
  bool smooths, excludesOutside;
  float cubicFactor, outside;

  Resize(const Attributes& attributes, int rank);
  bool crops() const { return place == PixelPlace::TfCropAndResize; }
};

}  // namespace max::readers
