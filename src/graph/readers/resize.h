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
  // Whether coordinates are those of a pixel's centre, less its half.
  bool startsAtCentre() const {
    return place == PixelPlace::HalfPixel || place == PixelPlace::HalfPixelSymmetric ||
           place == PixelPlace::PytorchHalfPixel;
  }
};

// A coordinate for the choice of the nearest pixel. Scales are float32: 1.7 is a little more there, and pixel 17 would
// be a little before pixel 10. Divided in float32 the coordinate is 10 again, as exporters and other runtimes expect.
inline double nearestPlace(const Resize& resize, double coordinate) {
  const double centre = resize.startsAtCentre() ? 0.5 : 0;
  return static_cast<double>(static_cast<float>(coordinate + centre)) - centre;
}

}  // namespace max::readers
