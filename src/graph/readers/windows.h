// SPDX-License-Identifier: Apache-2.0
// Windows that slide over images: what convolutions, pools and their inverses read of their attributes. Shape rules,
// passes and all kernels read them here, so that they cannot differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
  // With the pads that SAME_UPPER and SAME_LOWER stand for between these sizes along the axes.
  std::vector<Window> between(std::span<const int64_t> in, std::span<const int64_t> out) const;
};

// Of kernels with these sizes. INVALID_ARGUMENT if a number is out of range or a list has the wrong length.
Windows readWindows(const Attributes& attributes, std::span<const int64_t> sizes);

// A pool over images with so many spatial axes.
struct Pool {
  Windows windows;
  bool roundsUp, includesPads, isColumnMajor;

  Pool(const Attributes& attributes, size_t axes);
};

// The spatial sizes of kernels; empty where weights tell them.
std::vector<int64_t> readKernelShape(const Attributes& attributes);

// Groups of channels that have filters of their own.
int64_t readGroups(const Attributes& attributes);
// Groups of channels that have offsets of their own (DeformConv).
int64_t readOffsetGroups(const Attributes& attributes);

// A convolution whose input pixels add their filters to the output.
struct Transposed {
  Windows windows;
  std::vector<int64_t> extra;  // for each axis, what is added at the end
  std::vector<int64_t> shape;  // of the output, if it is given

  Transposed(const Attributes& attributes, std::span<const int64_t> sizes);
  // Output pixels before the first one that is kept. What a given shape or SAME leaves over is split.
  int64_t padBegin(size_t axis, int64_t in, int64_t out) const;
};

}  // namespace max::readers
