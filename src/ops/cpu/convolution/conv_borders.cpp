// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_borders.h"

#include <algorithm>

namespace max {

double BorderTaps::share(int64_t tilePixels) const {
  double seen = 1;
  for (size_t axis = 0; axis < (joins_ ? 2 : 3); ++axis) {
    int64_t hidden = 0;
    for (int64_t tap = 0; tap < shape_.kernel[axis]; ++tap)
      hidden += hiddenPixels(axis, tap, axis == 2 ? tilePixels : 1);
    const auto all = static_cast<double>(shape_.out[axis]) * static_cast<double>(shape_.kernel[axis]);
    if (hidden > 0) seen *= 1 - static_cast<double>(hidden) / all;
  }
  return 1 - seen;
}

// Positions along an axis from which a tap sees nothing, so many of which make a tile.
int64_t BorderTaps::hiddenPixels(size_t axis, int64_t tap, int64_t together) const {
  const int64_t stride = shape_.stride[axis], out = shape_.out[axis], first = position({}, axis, tap);
  const int64_t before = std::clamp<int64_t>((stride - 1 - first) / stride, 0, out);
  const int64_t seen = std::max<int64_t>(shape_.in[axis] - first + stride - 1, 0) / stride;
  const int64_t behind = out - std::clamp(seen, before, out);
  return before / together * together + behind / together * together;
}

Spatial BorderTaps::placeOf(int64_t pixel) const {
  Spatial at;
  for (size_t axis = 3; axis-- > 0; pixel /= shape_.out[axis]) at[axis] = pixel % shape_.out[axis];
  return at;
}

bool BorderTaps::find(Spatial& at, int64_t count, std::span<bool> hidden) const {
  bool any = true;
  for (bool isFirst = true; count > 0; isFirst = false) {
    const Run run{at, std::min(count, shape_.out[2] - at[2])};
    any = any && hidesAny(run) && hide(run, isFirst, hidden);
    count -= run.count;
    at[2] += run.count;
    for (size_t axis = 2; at[axis] == shape_.out[axis]; --axis) {
      at[axis] = 0;
      if (axis == 0) break;
      ++at[axis - 1];
    }
  }
  return any;
}

// A tap of an axis. Between the columns that it reads there is nothing to see, either.
bool BorderTaps::hides(const Run& run, size_t axis, int64_t tap) const {
  const int64_t begin = position(run.at, axis, tap);
  const int64_t end = axis == 2 ? begin + (run.count - 1) * shape_.stride[2] : begin;
  return end < 0 || begin >= shape_.in[axis];
}

// The first taps see least before the image, and the last ones behind it.
bool BorderTaps::hidesAny(const Run& run) const {
  for (size_t axis = 0; axis < (joins_ ? 2 : 3); ++axis)
    if (hides(run, axis, 0) || hides(run, axis, shape_.kernel[axis] - 1)) return true;
  return false;
}

bool BorderTaps::hide(const Run& run, bool isFirst, std::span<bool> hidden) const {
  size_t place = 0;
  bool any = false;
  for (int64_t d = 0; d < shape_.kernel[0]; ++d)
    for (int64_t h = 0; h < shape_.kernel[1]; ++h) {
      const bool isRowHidden = hides(run, 0, d) || hides(run, 1, h);
      for (int64_t w = 0; w < (joins_ ? 1 : shape_.kernel[2]); ++w, ++place) {
        const bool isHidden = isRowHidden || (!joins_ && hides(run, 2, w));
        hidden[place] = isHidden && (isFirst || hidden[place]);
        any |= hidden[place];
      }
    }
  return any;
}

}  // namespace max
