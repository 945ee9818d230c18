// SPDX-License-Identifier: Apache-2.0
// One axis of windows that add to an image: position i and tap t meet at i * stride + shift(t).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/interrupt_point.h"

namespace max {

struct ColumnAxis {
  int64_t size = 1, taps = 1, stride = 1, dilation = 1, before = 0, positions = 1;

  int64_t shift(int64_t tap) const { return tap * dilation - before; }
  // The positions whose tap is inside the image.
  int64_t begin(int64_t tap) const { return shift(tap) < 0 ? (stride - 1 - shift(tap)) / stride : 0; }
  int64_t end(int64_t tap) const {
    const int64_t room = size - 1 - shift(tap);
    return room < 0 ? 0 : std::min(positions, room / stride + 1);
  }
};

// Three axes, missing ones first. Calls body(row of positions, offset in the image) for every row of positions (all
// axes except the last fixed) that tap number `tap` maps into the image; offsets in elements.
template <class Body>
void forEachColumnLine(const ColumnAxis (&axes)[3], int64_t tap, Body body) {
  const ColumnAxis &depth = axes[0], &row = axes[1], &place = axes[2];
  const int64_t h = tap / place.taps % row.taps, d = tap / place.taps / row.taps;
  const int64_t begin = row.begin(h), end = row.end(h), lastDepth = depth.end(d);
  WorkCounter work;
  for (int64_t i = depth.begin(d); i < lastDepth; ++i)
    for (int64_t j = begin; j < end; ++j, work.pass(8 + place.positions))
      body((i * row.positions + j) * place.positions,
           ((i * depth.stride + depth.shift(d)) * row.size + j * row.stride + row.shift(h)) * place.size);
}

}  // namespace max
