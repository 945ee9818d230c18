// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/resize/resize_axis.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/number_access.h"

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

double exactCoordinate(const readers::Resize& resize, const ResizedAxis& axis, int64_t i) {
  const double x = static_cast<double>(i), in = static_cast<double>(axis.inputSize),
               out = static_cast<double>(axis.outputSize);
  switch (resize.place) {
    case readers::PixelPlace::HalfPixel:
      return (x + 0.5) / axis.scale - 0.5;
    case readers::PixelPlace::Asymmetric:
      return x / axis.scale;
    case readers::PixelPlace::AlignCorners:
      return axis.outputSize == 1 ? 0 : x * (in - 1) / (out - 1);
    case readers::PixelPlace::TfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case readers::PixelPlace::PytorchHalfPixel:
      return axis.outputSize > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
    case readers::PixelPlace::HalfPixelSymmetric:
      return in / 2 * (1 - out / (axis.scale * in)) + (x + 0.5) / axis.scale - 0.5;
    case readers::PixelPlace::TfCropAndResize:
      break;
  }
  if (axis.outputSize == 1) return 0.5 * (axis.roiStart + axis.roiEnd) * (in - 1);
  return axis.roiStart * (in - 1) + x * (axis.roiEnd - axis.roiStart) * (in - 1) / (out - 1);
}

// Coordinates far outside the image, from odd scales and regions, are equivalent to near ones.
double coordinate(const readers::Resize& resize, const ResizedAxis& axis, int64_t i) {
  constexpr double kFar = 1e7;
  const double x = exactCoordinate(resize, axis, i);
  return std::isnan(x) ? -kFar : std::clamp(x, -kFar, static_cast<double>(axis.inputSize) + kFar);
}

bool isOutside(const readers::Resize& resize, const ResizedAxis& axis, double x) {
  return resize.crops() && (x < 0 || x > static_cast<double>(axis.inputSize - 1));
}

double cubic(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

constexpr double kSmallestStretch = 1e-5;

// Positions of a filter's taps, relative to the pixel below the coordinate, and their weights.
struct Filter {
  bool isCubic;
  double a;
  double stretch;  // antialiasing widens the filter when the image shrinks

  Filter(const readers::Resize& resize, double scale)
      : isCubic(resize.interpolation == readers::Interpolation::Cubic),
        a(static_cast<double>(resize.cubicFactor)),
        stretch(resize.smooths ? std::min(scale, 1.0) : 1.0) {}
  int64_t start() const { return static_cast<int64_t>(std::floor((isCubic ? -2 : -1) / stretch)) + 1; }
  int64_t taps() const { return 2 - 2 * start(); }
  double weight(double distance) const {
    const double d = distance * stretch;
    return isCubic ? cubic(d, a) : std::max(0.0, 1 - std::abs(d));
  }
};

}  // namespace

readers::Resize resizeOf(const OpRequest& request) { return {request.node.attributes, request.inputs[0].shape.rank()}; }

std::vector<ResizedAxis> resizedAxes(const MovementCall& call, const readers::Resize& resize) {
  const Shape &in = call.in(), &out = call.out();
  const size_t count = resize.axes.size();
  const std::vector<int64_t> sizes = call.integers(3);
  const std::vector<double> scales = sizes.empty() ? numbers(call, 2) : std::vector<double>(),
                            roi = resize.crops() ? numbers(call, 1) : std::vector<double>();
  const bool hasRatio = sizes.size() == count && resize.policy != readers::AspectPolicy::Stretch;
  const bool isLeast = resize.policy == readers::AspectPolicy::NotLarger;
  double common = isLeast ? INFINITY : 0;
  std::vector<ResizedAxis> result;
  for (size_t i = 0; i < count; ++i) {
    const int axis = resize.axes[i];
    ResizedAxis entry{axis, in[axis], out[axis], static_cast<double>(out[axis]) / static_cast<double>(in[axis])};
    if (scales.size() == count) entry.scale = scales[i];
    if (hasRatio) {
      const double ratio = static_cast<double>(sizes[i]) / static_cast<double>(in[axis]);
      common = isLeast ? std::min(common, ratio) : std::max(common, ratio);
    }
    if (roi.size() == 2 * count) {
      entry.roiStart = roi[i];
      entry.roiEnd = roi[count + i];
    }
    result.push_back(entry);
  }
  if (hasRatio)
    for (ResizedAxis& entry : result) entry.scale = common;
  std::erase_if(result, [](const ResizedAxis& entry) {
    return entry.inputSize == entry.outputSize && entry.scale == 1 && entry.roiStart == 0 && entry.roiEnd == 1;
  });
  return result;
}

AxisWeights axisWeights(const Node& node, const readers::Resize& resize, const ResizedAxis& axis) {
  const Filter filter(resize, axis.scale);
  require(filter.stretch > kSmallestStretch, MAX_STATUS_UNIMPLEMENTED, node.description(), ": scale ", axis.scale,
          " needs a filter with too many pixels");
  AxisWeights result;
  result.taps = filter.taps();
  const size_t count = checkedMultiply(static_cast<size_t>(axis.outputSize), static_cast<size_t>(result.taps));
  result.index.reserve(count);
  result.weight.reserve(count);
  WorkCounter work;
  for (int64_t i = 0; i < axis.outputSize; ++i) {
    const double x = coordinate(resize, axis, i), base = std::floor(x);
    result.isOutside.push_back(isOutside(resize, axis, x));
    double sum = 0;
    const size_t first = result.weight.size();
    for (int64_t tap = 0; tap < result.taps; ++tap, work.pass(8)) {
      const int64_t offset = filter.start() + tap;
      const int64_t at = static_cast<int64_t>(base) + offset;
      const bool counts = !resize.excludesOutside || (at >= 0 && at < axis.inputSize);
      const double weight = counts ? filter.weight(static_cast<double>(offset) - (x - base)) : 0;
      result.index.push_back(std::clamp<int64_t>(at, 0, axis.inputSize - 1));
      result.weight.push_back(weight);
      sum += weight;
    }
    for (size_t k = first; k < result.weight.size() && sum != 0; ++k) result.weight[k] /= sum;
  }
  return result;
}

WorkVector<int64_t> nearestIndices(const readers::Resize& resize, const ResizedAxis& axis) {
  using readers::NearestPixel;
  WorkVector<int64_t> indices;
  indices.reserve(static_cast<size_t>(axis.outputSize));
  WorkCounter work;
  for (int64_t i = 0; i < axis.outputSize; ++i, work.pass(64)) {
    const double x = coordinate(resize, axis, i), place = readers::nearestPlace(resize, x);
    const double rounded = resize.nearest == NearestPixel::RoundPreferFloor  ? std::ceil(place - 0.5)
                           : resize.nearest == NearestPixel::RoundPreferCeil ? std::floor(place + 0.5)
                           : resize.nearest == NearestPixel::Floor           ? std::floor(place)
                                                                             : std::ceil(place);
    const double last = static_cast<double>(axis.inputSize - 1);
    indices.push_back(isOutside(resize, axis, x) ? -1 : static_cast<int64_t>(std::clamp(rounded, 0.0, last)));
  }
  return indices;
}

}  // namespace max
