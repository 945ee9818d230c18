// SPDX-License-Identifier: Apache-2.0
// Resize in one step over all axes: every output element is the weighted sum of a box of pixels.
#include "graph/readers/resize.h"

#include <algorithm>

#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

using readers::NearestPixel;
using readers::PixelPlace;

struct Axis {
  int64_t in, out;
  double scale = 1, roiStart = 0, roiEnd = 1;

  bool changes() const { return in != out || scale != 1 || roiStart != 0 || roiEnd != 1; }
};

std::vector<double> numbersOf(const Call& call, size_t input) {
  return call.has(input) ? load<double>(call.in(input)) : std::vector<double>();
}

std::vector<Axis> axesOf(const Call& call, const readers::Resize& resize) {
  const Shape &in = call.in().shape, &out = call.out().shape;
  std::vector<Axis> axes;
  for (int i = 0; i < in.rank(); ++i) axes.push_back({in[i], out[i]});
  const std::vector<double> roi = resize.crops() ? numbersOf(call, 1) : std::vector<double>(),
                            scales = numbersOf(call, 2), sizes = numbersOf(call, 3);
  const size_t count = resize.axes.size();
  std::vector<double> ratios;
  for (size_t i = 0; i < count; ++i) {
    Axis& axis = axes[static_cast<size_t>(resize.axes[i])];
    axis.scale = sizes.empty() && scales.size() == count ? scales[i]
                                                         : static_cast<double>(axis.out) / static_cast<double>(axis.in);
    if (!sizes.empty()) ratios.push_back(sizes[i] / static_cast<double>(axis.in));
    if (roi.size() == 2 * count) {
      axis.roiStart = roi[i];
      axis.roiEnd = roi[count + i];
    }
  }
  if (ratios.empty() || resize.policy == readers::AspectPolicy::Stretch) return axes;
  const auto [least, greatest] = std::minmax_element(ratios.begin(), ratios.end());
  for (const int i : resize.axes)
    axes[static_cast<size_t>(i)].scale = resize.policy == readers::AspectPolicy::NotLarger ? *least : *greatest;
  return axes;
}

// ONNX's formulas: where output pixel i lies in the input.
double placeOf(const readers::Resize& resize, const Axis& axis, int64_t i) {
  const double x = static_cast<double>(i), in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  const double halfPixel = (x + 0.5) / axis.scale - 0.5;
  switch (resize.place) {
    case PixelPlace::HalfPixel:
      return halfPixel;
    case PixelPlace::HalfPixelSymmetric: {
      const double adjustment = out / (axis.scale * in), centre = in / 2;
      return centre * (1 - adjustment) + halfPixel;
    }
    case PixelPlace::PytorchHalfPixel:
      return axis.out > 1 ? halfPixel : 0;
    case PixelPlace::AlignCorners:
      return axis.out > 1 ? x * (in - 1) / (out - 1) : 0;
    case PixelPlace::Asymmetric:
      return x / axis.scale;
    case PixelPlace::TfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case PixelPlace::TfCropAndResize:
      break;
  }
  if (axis.out > 1) return axis.roiStart * (in - 1) + x * (axis.roiEnd - axis.roiStart) * (in - 1) / (out - 1);
  return 0.5 * (axis.roiStart + axis.roiEnd) * (in - 1);
}

double nearestOf(NearestPixel rule, double x) {
  const double below = std::floor(x), part = x - below;
  switch (rule) {
    case NearestPixel::Floor:
      return below;
    case NearestPixel::Ceil:
      return std::ceil(x);
    case NearestPixel::RoundPreferFloor:
      return part > 0.5 ? below + 1 : below;
    case NearestPixel::RoundPreferCeil:
      break;
  }
  return part >= 0.5 ? below + 1 : below;
}

// The weight of a pixel at a distance from the place, by interpolation.
double filterOf(const readers::Resize& resize, double distance) {
  const double d = std::abs(distance), a = static_cast<double>(resize.cubicFactor);
  if (resize.interpolation == readers::Interpolation::Linear) return d < 1 ? 1 - d : 0;
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

struct Tap {
  int64_t pixel;
  double weight;
};
// Of one output pixel along an axis; none = the place is outside of the image, which crops fill with a value.
using Taps = std::vector<Tap>;

// Places far from the image are as good as near ones.
double nearImage(double x, int64_t size) {
  constexpr double kFar = 1e7;
  return std::isnan(x) ? -kFar : std::clamp(x, -kFar, static_cast<double>(size) + kFar);
}

Taps tapsAt(const readers::Resize& resize, const Axis& axis, int64_t i) {
  const double last = static_cast<double>(axis.in - 1), x = nearImage(placeOf(resize, axis, i), axis.in);
  if (resize.crops() && (x < 0 || x > last)) return {};
  if (resize.interpolation == readers::Interpolation::Nearest)
    return {
        {static_cast<int64_t>(std::clamp(nearestOf(resize.nearest, readers::nearestPlace(resize, x)), 0.0, last)), 1}};
  // Antialiasing makes the filter as wide as the pixels of a smaller image are.
  const double stretch = resize.smooths ? std::min(axis.scale, 1.0) : 1;
  const double reach = (resize.interpolation == readers::Interpolation::Linear ? 1 : 2) / stretch;
  Taps taps;
  double sum = 0;
  for (double at = std::floor(x - reach) + 1; at <= x + reach; ++at, passWork(8)) {
    if (resize.excludesOutside && (at < 0 || at > last)) continue;
    const double weight = filterOf(resize, (at - x) * stretch);
    taps.push_back({static_cast<int64_t>(std::clamp(at, 0.0, last)), weight});
    sum += weight;
  }
  // Nothing within reach counts for nothing.
  if (taps.empty()) return {{0, 0}};
  for (Tap& tap : taps)
    if (sum != 0) tap.weight /= sum;
  return taps;
}

std::vector<Taps> tapsOf(const Call& call, const readers::Resize& resize, const Axis& axis) {
  constexpr double kSmallestScale = 1e-5;
  const bool isNearest = resize.interpolation == readers::Interpolation::Nearest;
  if (axis.changes() && resize.smooths && !isNearest && !(axis.scale > kSmallestScale))
    call.fail(MAX_STATUS_UNIMPLEMENTED, "scale ", axis.scale, " needs a filter with too many pixels");
  std::vector<Taps> taps;
  for (int64_t i = 0; i < axis.out; ++i, passWork(64))
    taps.push_back(axis.changes() ? tapsAt(resize, axis, i) : Taps{{i, 1}});
  return taps;
}

// The weighted sum of all combinations of taps.
double valueAt(const std::vector<std::vector<Taps>>& axes, const std::vector<double>& x, const Shape& strides,
               const Shape& position, double outside) {
  std::vector<const Taps*> taps;
  Shape counts;
  for (int axis = 0; axis < position.rank(); ++axis) {
    taps.push_back(&axes[static_cast<size_t>(axis)][static_cast<size_t>(position[axis])]);
    if (taps.back()->empty()) return outside;
    counts.push(static_cast<int64_t>(taps.back()->size()));
  }
  double sum = 0;
  Shape number = Shape::filled(position.rank(), 0);
  WorkCounter work;
  do {
    work.pass(16);
    double weight = 1;
    int64_t offset = 0;
    for (int axis = 0; axis < position.rank(); ++axis) {
      const Tap& tap = (*taps[static_cast<size_t>(axis)])[static_cast<size_t>(number[axis])];
      weight *= tap.weight;
      offset += tap.pixel * strides[axis];
    }
    sum += weight * x[static_cast<size_t>(offset)];
  } while (advance(number, counts));
  return sum;
}

void resize(const Call& call) {
  const readers::Resize rule(call.node.attributes, call.in().shape.rank());
  std::vector<double> y = repeated<double>(call.out().count());
  if (!y.empty()) {
    if (call.in().count() == 0) call.fail(MAX_STATUS_INVALID_ARGUMENT, "cannot resize ", call.in().shape);
    std::vector<std::vector<Taps>> axes;
    for (const Axis& axis : axesOf(call, rule)) axes.push_back(tapsOf(call, rule, axis));
    const std::vector<double> x = load<double>(call.in());
    const Shape strides = contiguousStrides(call.in().shape);
    Shape position = Shape::filled(call.out().shape.rank(), 0);
    size_t k = 0;
    do passWork(64), y[k++] = valueAt(axes, x, strides, position, static_cast<double>(rule.outside));
    while (advance(position, call.out().shape));
  }
  store(call.out(), y);
}

const OpRow kRows[] = {{"", "Resize", kReference<resize>}};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceResizeOps() { return reference::kRows; }

}  // namespace max
