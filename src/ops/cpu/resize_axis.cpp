// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/resize_axis.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/interrupt_point.h"
#include "ops/cpu/number_access.h"

namespace max {

namespace {

std::vector<double> numbers(const MovementCall& call, size_t input) {
  if (!call.has(input)) return {};
  const Operand& operand = call.request().inputs[input];
  const void* data = call.contents(input);
  std::vector<double> values(static_cast<size_t>(operand.shape.count()));
  loadNumbers(operand.dtype, data, 0, operand.shape.count(), values.data());
  return values;
}

std::string modeOf(const MovementCall& call) {
  return call.attributes().getString("coordinate_transformation_mode", "half_pixel");
}

bool crops(const MovementCall& call) { return modeOf(call) == "tf_crop_and_resize"; }

double exactCoordinate(const MovementCall& call, const std::string& mode, const ResizedAxis& axis, int64_t i) {
  const double x = static_cast<double>(i), in = static_cast<double>(axis.inputSize),
               out = static_cast<double>(axis.outputSize);
  if (mode == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.outputSize == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (mode == "pytorch_half_pixel") return axis.outputSize > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = out / (axis.scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    if (axis.outputSize == 1) return 0.5 * (axis.roiStart + axis.roiEnd) * (in - 1);
    return axis.roiStart * (in - 1) + x * (axis.roiEnd - axis.roiStart) * (in - 1) / (out - 1);
  }
  call.fail(MAX_STATUS_INVALID_ARGUMENT, "unknown coordinate_transformation_mode '", mode, "'");
}

// Coordinates far outside of the image, from odd scales and regions, are as good as near ones.
double coordinate(const MovementCall& call, const std::string& mode, const ResizedAxis& axis, int64_t i) {
  constexpr double kFar = 1e7;
  const double x = exactCoordinate(call, mode, axis, i);
  return std::isnan(x) ? -kFar : std::clamp(x, -kFar, static_cast<double>(axis.inputSize) + kFar);
}

bool isOutside(const MovementCall& call, const ResizedAxis& axis, double x) {
  return crops(call) && (x < 0 || x > static_cast<double>(axis.inputSize - 1));
}

double cubic(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

constexpr double kSmallestStretch = 1e-5;

// Where a filter's taps lie, relative to the pixel below the coordinate, and what they weigh.
struct Filter {
  bool isCubic;
  double a;
  double stretch;  // antialiasing widens the filter when the image shrinks

  Filter(const MovementCall& call, double scale)
      : isCubic(call.attributes().getString("mode", "nearest") == "cubic"),
        a(call.attributes().getFloat("cubic_coeff_a", -0.75f)),
        stretch(call.attributes().getInt("antialias", 0) ? std::min(scale, 1.0) : 1.0) {}
  int64_t start() const { return static_cast<int64_t>(std::floor((isCubic ? -2 : -1) / stretch)) + 1; }
  int64_t taps() const { return 2 - 2 * start(); }
  double weight(double distance) const {
    const double d = distance * stretch;
    return isCubic ? cubic(d, a) : std::max(0.0, 1 - std::abs(d));
  }
};

}  // namespace

std::vector<ResizedAxis> resizedAxes(const MovementCall& call) {
  const Shape &in = call.in(), &out = call.out();
  std::vector<int64_t> axes = call.attributes().getInts("axes");
  if (axes.empty())
    for (int i = 0; i < in.rank(); ++i) axes.push_back(i);
  const std::vector<double> scales = numbers(call, 2), roi = crops(call) ? numbers(call, 1) : std::vector<double>();
  const std::string policy = call.attributes().getString("keep_aspect_ratio_policy", "stretch");
  std::vector<ResizedAxis> result;
  double common = policy == "not_larger" ? INFINITY : 0;
  const std::vector<int64_t> sizes = call.integers(3);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = call.axis(axes[i], in.rank());
    ResizedAxis entry{axis, in[axis], out[axis], static_cast<double>(out[axis]) / static_cast<double>(in[axis])};
    if (i < scales.size()) entry.scale = scales[i];
    if (i < sizes.size() && policy != "stretch") {
      const double ratio = static_cast<double>(sizes[i]) / static_cast<double>(in[axis]);
      common = policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
    }
    if (roi.size() == 2 * axes.size()) {
      entry.roiStart = roi[i];
      entry.roiEnd = roi[axes.size() + i];
    }
    result.push_back(entry);
  }
  if (!sizes.empty() && policy != "stretch")
    for (ResizedAxis& entry : result) entry.scale = common;
  std::erase_if(result, [](const ResizedAxis& entry) {
    return entry.inputSize == entry.outputSize && entry.scale == 1 && entry.roiStart == 0 && entry.roiEnd == 1;
  });
  return result;
}

AxisWeights axisWeights(const MovementCall& call, const ResizedAxis& axis) {
  const Filter filter(call, axis.scale);
  const std::string mode = modeOf(call);
  const bool excludeOutside = call.attributes().getInt("exclude_outside", 0) != 0;
  require(filter.stretch > kSmallestStretch, MAX_STATUS_UNIMPLEMENTED, call.node().description(), ": scale ",
          axis.scale, " needs a filter of too many pixels");
  AxisWeights result;
  result.taps = filter.taps();
  const size_t count = checkedMultiply(static_cast<size_t>(axis.outputSize), static_cast<size_t>(result.taps));
  result.index.reserve(count);
  result.weight.reserve(count);
  WorkCounter work;
  for (int64_t i = 0; i < axis.outputSize; ++i) {
    const double x = coordinate(call, mode, axis, i), base = std::floor(x);
    result.isOutside.push_back(isOutside(call, axis, x));
    double sum = 0;
    const size_t first = result.weight.size();
    for (int64_t tap = 0; tap < result.taps; ++tap, work.pass(8)) {
      const int64_t offset = filter.start() + tap;
      const int64_t at = static_cast<int64_t>(base) + offset;
      const bool counts = !excludeOutside || (at >= 0 && at < axis.inputSize);
      const double weight = counts ? filter.weight(static_cast<double>(offset) - (x - base)) : 0;
      result.index.push_back(std::clamp<int64_t>(at, 0, axis.inputSize - 1));
      result.weight.push_back(weight);
      sum += weight;
    }
    for (size_t k = first; k < result.weight.size() && sum != 0; ++k) result.weight[k] /= sum;
  }
  return result;
}

std::vector<int64_t> nearestIndices(const MovementCall& call, const ResizedAxis& axis) {
  const std::string mode = modeOf(call), rounding = call.attributes().getString("nearest_mode", "round_prefer_floor");
  std::vector<int64_t> indices;
  indices.reserve(static_cast<size_t>(axis.outputSize));
  WorkCounter work;
  for (int64_t i = 0; i < axis.outputSize; ++i, work.pass(64)) {
    const double x = coordinate(call, mode, axis, i);
    const double rounded = rounding == "round_prefer_floor"  ? std::ceil(x - 0.5)
                           : rounding == "round_prefer_ceil" ? std::floor(x + 0.5)
                           : rounding == "floor"             ? std::floor(x)
                                                             : std::ceil(x);
    const double last = static_cast<double>(axis.inputSize - 1);
    indices.push_back(isOutside(call, axis, x) ? -1 : static_cast<int64_t>(std::clamp(rounded, 0.0, last)));
  }
  return indices;
}

}  // namespace max
