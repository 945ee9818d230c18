// SPDX-License-Identifier: Apache-2.0
// One axis of a RoiAlign region: the positions of each bin's samples, and the pixels they read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/interrupt_point.h"
#include "graph/readers/image.h"

namespace max {

class RoiAxis {
 public:
  // A region [from, to] of an axis with `pixels` pixels, cut into `bins`.
  RoiAxis(const readers::AlignedRegions& rule, double from, double to, int64_t bins, int64_t pixels)
      : start_(from * double{rule.scale} - (rule.isHalfPixel ? 0.5 : 0)), pixels_(pixels), samples_(0) {
    double size = (to - from) * double{rule.scale};
    if (!rule.isHalfPixel) size = std::max(size, 1.0);
    bin_ = size / static_cast<double>(bins);
    constexpr double kMost = 1e15;
    if (rule.samples > 0)
      samples_ = rule.samples;
    else if (bin_ > 0)
      samples_ = static_cast<int64_t>(std::min(std::ceil(bin_), kMost));
  }

  int64_t samples() const { return samples_; }  // per bin, including those outside the image

  // Calls body(low, high, weight of low, weight of high) for the samples of a bin inside the image. Others are skipped
  // as a whole, since huge regions have many.
  template <class Body>
  void forEachSample(int64_t bin, Body body) const {
    const double base = start_ + static_cast<double>(bin) * bin_, step = bin_ / static_cast<double>(samples_);
    const double end = static_cast<double>(pixels_), all = static_cast<double>(samples_);
    int64_t first = 0, last = samples_;
    if (step > 0) {
      const double low = (-1 - base) / step - 1, high = (end - base) / step + 1;
      first = low > 0 ? static_cast<int64_t>(std::min(low, all)) : 0;
      last = high >= all ? samples_ : high > 0 ? static_cast<int64_t>(high) + 1 : 0;
    }
    WorkCounter work;
    for (int64_t i = first; i < last; ++i, work.pass(4)) {
      const double at = base + (static_cast<double>(i) + 0.5) * step;
      if (!(at >= -1 && at <= end)) continue;
      const double inside = std::max(at, 0.0);
      const int64_t low = std::min(static_cast<int64_t>(inside), pixels_ - 1), high = std::min(low + 1, pixels_ - 1);
      const double part = low == pixels_ - 1 ? 0 : inside - static_cast<double>(low);
      body(low, high, 1 - part, part);
    }
  }

 private:
  double start_, bin_;
  int64_t pixels_, samples_;
};

}  // namespace max
