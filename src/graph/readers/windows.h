// SPDX-License-Identifier: Apache-2.0
// Sliding windows: attributes of convolutions, pools and their inverses. Shape rules, passes and all kernels read them
// here, so that they cannot differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/shape.h"
#include "graph/attributes.h"

namespace max::readers {

enum class AutoPad : uint8_t { None, SameUpper, SameLower };

// Along one axis. Sizes, strides and dilations are from 1 to 2^31 - 1, pads from 0.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;

  // Pixels from the first tap to the last.
  int64_t extent() const { return (size - 1) * dilation + 1; }
};

struct Windows {
  AutoPad autoPad = AutoPad::None;  // VALID has no pads
  std::vector<Window> axes;

  bool isSame() const { return autoPad != AutoPad::None; }
  int64_t taps() const;  // of all axes together, at most 2^31 - 1
  // Resolves SAME_UPPER and SAME_LOWER to pads, given these sizes of the axes.
  std::vector<Window> between(std::span<const int64_t> in, std::span<const int64_t> out) const;
};

// For kernels with these sizes. INVALID_ARGUMENT if a number is out of range or a list has the wrong length.
Windows readWindows(const Attributes& attributes, std::span<const int64_t> sizes);

// A pool over images with this many spatial axes.
struct Pool {
  Windows windows;
  bool roundsUp, includesPads, isColumnMajor;

  Pool(const Attributes& attributes, size_t axes);
};

// Whether a convolution with these weights is a product of the channels of each pixel alone.
bool isPointwise(const Attributes& attributes, const Shape& weights);

// The spatial sizes of kernels; empty if the weights determine them.
std::vector<int64_t> readKernelShape(const Attributes& attributes);

// Groups of channels with their own filters.
int64_t readGroups(const Attributes& attributes);
// Groups of channels with their own offsets (DeformConv).
int64_t readOffsetGroups(const Attributes& attributes);

// A transposed convolution.
struct Transposed {
  Windows windows;
  std::vector<int64_t> extra;  // added at the end of each axis
  std::vector<int64_t> shape;  // of the output, if given

  Transposed(const Attributes& attributes, std::span<const int64_t> sizes);
  // Output pixels cropped at the start. The surplus from a given shape or SAME is split between both ends.
  int64_t padBegin(size_t axis, int64_t in, int64_t out) const;
};

}  // namespace max::readers
