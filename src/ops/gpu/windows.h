// SPDX-License-Identifier: Apache-2.0
// What convolutions, transposed convolutions and pools have in common: windows over images of up to three axes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/shape.h"
#include "graph/graph.h"
#include "graph/readers/windows.h"

namespace max {

inline constexpr int kMostWindowAxes = 3;

// `Windows` in the source. Pixels are those of one image of the result.
struct WindowLayout {
  int64_t count = 0, pixels = 1, rank = 0, taps = 1;
  int64_t in[kMostWindowAxes] = {}, out[kMostWindowAxes] = {}, kernel[kMostWindowAxes] = {},
          stride[kMostWindowAxes] = {}, dilation[kMostWindowAxes] = {}, pad[kMostWindowAxes] = {},
          padEnd[kMostWindowAxes] = {};
  int64_t xBatch = 0, xPixel = 0, xChannel = 0;  // from one to the next in the input
};

// Operators of the domain `max` have the channels last.
bool isChannelsLast(const Node& node);

// The axes that windows slide along.
std::span<const int64_t> imageAxes(const Shape& shape, bool isChannelsLast);

// For windows whose pads are resolved.
WindowLayout windowLayout(const Shape& x, const Shape& y, std::span<const readers::Window> windows,
                          bool isChannelsLast);

// The struct, and functions that find the result's element and the input's pixel below a tap. `transposes`: a pixel of
// the result gathers those whose windows contain it.
std::string windowSource(bool isChannelsLast, bool transposes);

}  // namespace max
