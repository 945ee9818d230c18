// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/windows.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"

namespace max::readers {

namespace {

// Larger windows are nonsense; kernels can compute with smaller ones without overflow.
constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

struct Mode {
  std::string_view name;
  AutoPad autoPad;
  bool usesPads;
};
constexpr Mode kModes[] = {{"NOTSET", AutoPad::None, true},
                           {"", AutoPad::None, true},
                           {"VALID", AutoPad::None, false},
                           {"SAME_UPPER", AutoPad::SameUpper, false},
                           {"SAME_LOWER", AutoPad::SameLower, false}};

Mode readMode(const Attributes& attributes) {
  const std::string name = attributes.getString("auto_pad", "NOTSET");
  for (const Mode& mode : kModes)
    if (mode.name == name) return mode;
  invalidArgument("attribute 'auto_pad' is '", name, "'");
}

// A list of `count` numbers; a missing list is filled with the default.
std::vector<int64_t> readList(const Attributes& attributes, std::string_view name, size_t count, int64_t fallback,
                              int64_t least) {
  std::vector<int64_t> values = attributes.getInts(name);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) invalidArgument("attribute '", name, "' has ", values.size(), " numbers, needs ", count);
  for (int64_t value : values)
    if (value < least || value > kLargest)
      invalidArgument("attribute '", name, "' contains ", value, "; allowed are ", least, " to ", kLargest);
  return values;
}

int64_t readGroups(const Attributes& attributes, std::string_view name) {
  const int64_t groups = attributes.getInt(name, 1);
  if (groups < 1) invalidArgument("attribute '", name, "' is ", groups);
  return groups;
}

void checkSizes(std::span<const int64_t> sizes) {
  int64_t taps = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > kLargest) invalidArgument("the kernel has size ", sizes[i], " at spatial axis ", i);
    taps *= sizes[i];  // both factors are below 2^31
    if (taps > kLargest) invalidArgument("the kernel has more than ", kLargest, " elements");
  }
}

// From the first pixel of the first window to the last pixel of the last one.
int64_t reach(const Window& window, int64_t positions) {
  return checkedAdd(checkedMultiply(window.stride, positions - 1), window.extent());
}

}  // namespace

int64_t Windows::taps() const {
  int64_t taps = 1;
  for (const Window& axis : axes) taps *= axis.size;
  return taps;
}

std::vector<Window> Windows::between(std::span<const int64_t> in, std::span<const int64_t> out) const {
  std::vector<Window> result = axes;
  for (size_t i = 0; i < result.size() && isSame(); ++i) {
    Window& window = result[i];
    const int64_t total = std::max<int64_t>(reach(window, out[i]) - in[i], 0);
    window.padBegin = autoPad == AutoPad::SameUpper ? total / 2 : total - total / 2;
    window.padEnd = total - window.padBegin;
  }
  return result;
}

Windows readWindows(const Attributes& attributes, std::span<const int64_t> sizes) {
  const size_t count = sizes.size();
  const auto strides = readList(attributes, "strides", count, 1, 1);
  const auto dilations = readList(attributes, "dilations", count, 1, 1);
  auto pads = readList(attributes, "pads", 2 * count, 0, 0);
  const Mode mode = readMode(attributes);
  if (!mode.usesPads) std::fill(pads.begin(), pads.end(), 0);
  checkSizes(sizes);
  Windows result{mode.autoPad, {}};
  for (size_t i = 0; i < count; ++i)
    result.axes.push_back({sizes[i], strides[i], dilations[i], pads[i], pads[count + i]});
  return result;
}

std::vector<int64_t> readKernelShape(const Attributes& attributes) { return attributes.getInts("kernel_shape"); }

Pool::Pool(const Attributes& attributes, size_t axes)
    : roundsUp(attributes.getInt("ceil_mode", 0) != 0),
      includesPads(attributes.getInt("count_include_pad", 0) != 0),
      isColumnMajor(attributes.getInt("storage_order", 0) != 0) {
  const std::vector<int64_t> sizes = readKernelShape(attributes);
  if (sizes.size() != axes) invalidArgument("attribute 'kernel_shape' has ", sizes.size(), " numbers, needs ", axes);
  windows = readWindows(attributes, sizes);
}

bool isPointwise(const Attributes& attributes, const Shape& weights) {
  if (readGroups(attributes) != 1 || weights.product(2, weights.rank()) != 1) return false;
  const Windows windows = readWindows(attributes, weights.dims().subspan(2));
  return std::all_of(windows.axes.begin(), windows.axes.end(), [](const Window& window) {
    return window.stride == 1 && window.padBegin == 0 && window.padEnd == 0;
  });
}

int64_t readGroups(const Attributes& attributes) { return readGroups(attributes, "group"); }
int64_t readOffsetGroups(const Attributes& attributes) { return readGroups(attributes, "offset_group"); }

Transposed::Transposed(const Attributes& attributes, std::span<const int64_t> sizes)
    : windows(readWindows(attributes, sizes)), extra(readList(attributes, "output_padding", sizes.size(), 0, 0)) {
  if (!attributes.getInts("output_shape").empty()) shape = readList(attributes, "output_shape", sizes.size(), 0, 0);
}

int64_t Transposed::padBegin(size_t axis, int64_t in, int64_t out) const {
  const Window& window = windows.axes[axis];
  if (shape.empty() && !windows.isSame()) return window.padBegin;
  const int64_t total = std::max<int64_t>(checkedAdd(reach(window, in), extra[axis]) - out, 0);
  return windows.autoPad == AutoPad::SameUpper ? total / 2 : total - total / 2;
}

}  // namespace max::readers
