// SPDX-License-Identifier: Apache-2.0
// One axis of an image for GridSample: the pixels around a coordinate, and their weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/readers/image.h"

namespace max {

// T = the arithmetic type: float for float32 grids, since rounding decides which pixel is nearest.
template <class T>
class GridAxis {
 public:
  GridAxis(const readers::Grid& rule, int64_t size)
      : rule_(rule),
        count_(size),
        size_(static_cast<T>(size)),
        low_(rule.alignsCorners ? T{0} : T{-0.5}),
        high_(rule.alignsCorners ? size_ - 1 : size_ - T{0.5}) {}

  // Writes taps() pixels and weights for a coordinate of [-1, 1]; pixel -1 = outside, reads as zero. NaN is outside.
  void locate(T coordinate, int64_t* pixels, T* weights) const {
    T x = rule_.alignsCorners ? (coordinate + 1) / 2 * (size_ - 1) : ((coordinate + 1) * size_ - 1) / 2;
    if (rule_.mode == readers::GridMode::Nearest) {
      pixels[0] = pixel(static_cast<int64_t>(placed(std::nearbyint(x))));
      weights[0] = 1;
      return;
    }
    x = placed(x);
    const T base = std::floor(x), part = x - base;
    const auto at = static_cast<int64_t>(base);
    if (rule_.mode == readers::GridMode::Linear) {
      pixels[0] = pixel(at);
      pixels[1] = pixel(at + 1);
      weights[0] = 1 - part;
      weights[1] = part;
      return;
    }
    for (int i = 0; i < readers::Grid::kMostTaps; ++i) {
      pixels[i] = pixel(at + i - 1);
      weights[i] = cubic(std::abs(part - static_cast<T>(i - 1)));
    }
  }

 private:
  // Moves a coordinate far outside the image to an equivalent one.
  T placed(T x) const {
    if (x >= low_ && x <= high_) return x;
    constexpr T kMargin = 4;  // further than any tap reaches
    if (rule_.padding == readers::GridPadding::Zeros) return x > -kMargin && x < size_ + kMargin ? x : -kMargin;
    if (rule_.padding == readers::GridPadding::Reflection) return reflected(x);
    // Cubic: taps outside the image read the border, as in PyTorch and ONNX Runtime.
    if (rule_.mode == readers::GridMode::Cubic && x == x) return std::clamp(x, -kMargin, size_ + kMargin);
    return x > high_ ? size_ - 1 : T{0};
  }

  T reflected(T x) const {
    const T range = high_ - low_, away = x < low_ ? low_ - x : x - high_;
    const T rest = std::fmod(away, 2 * range);
    if (!(range > 0) || !(rest >= 0)) return 0;
    const T inside = rest <= range ? rest : 2 * range - rest;
    return x < low_ ? low_ + inside : high_ - inside;
  }

  int64_t pixel(int64_t i) const {
    if (i >= 0 && i < count_) return i;
    if (rule_.padding == readers::GridPadding::Zeros) return -1;
    if (rule_.padding == readers::GridPadding::Reflection) i = static_cast<int64_t>(reflected(static_cast<T>(i)));
    return std::clamp<int64_t>(i, 0, count_ - 1);
  }

  static T cubic(T distance) {
    constexpr T a = T{-0.75};
    if (distance <= 1) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
    return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a;
  }

  readers::Grid rule_;
  int64_t count_;
  T size_, low_, high_;
};

}  // namespace max
