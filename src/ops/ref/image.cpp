// SPDX-License-Identifier: Apache-2.0
// GridSample and RoiAlign: operators that interpolate between pixels.
#include "graph/readers/image.h"

#include "base/interrupt_point.h"
#include "ops/ref/sample.h"
#include "ops/ref/window.h"

namespace max::reference {

namespace {

// One axis of the image that a grid points into.
struct GridAxis {
  const readers::Grid& rule;
  int64_t size;

  // The ends of the image: the centres of its first and last pixel, or their outer edges.
  double low() const { return rule.alignsCorners ? 0 : -0.5; }
  double high() const { return static_cast<double>(size - 1) - low(); }

  // From [-1, 1] to pixels. In the grid's type: its rounding decides which pixel is nearest.
  template <class T>
  double pixels(T coordinate) const {
    const auto length = static_cast<T>(size);
    return static_cast<double>(rule.alignsCorners ? (coordinate + 1) / 2 * (length - 1)
                                                  : ((coordinate + 1) * length - 1) / 2);
  }

  // A place behind an end comes back from there, as often as needed.
  double reflected(double x) const {
    const double range = high() - low(), away = std::max(low() - x, x - high());
    if (away <= 0) return x;
    const double back = range - std::abs(std::fmod(away, 2 * range) - range);
    if (!std::isfinite(back)) return 0;
    return x < low() ? low() + back : high() - back;
  }

  // What the padding makes of a place outside of the image; a place far away that nothing reaches for zeros.
  double padded(double x) const {
    constexpr double kFar = 8;
    const double last = static_cast<double>(size - 1);
    if (x >= low() && x <= high()) return x;
    if (rule.padding == readers::GridPadding::Reflection) return std::isnan(x) ? 0 : reflected(x);
    if (rule.padding == readers::GridPadding::Zeros) return x > -kFar && x < last + kFar ? x : -kFar;
    // The border continues the image for the taps of cubic interpolation (as in PyTorch and ONNX Runtime).
    const bool isCubic = rule.mode == readers::GridMode::Cubic;
    return std::isnan(x) ? 0 : isCubic ? std::clamp(x, -kFar, last + kFar) : std::clamp(x, 0.0, last);
  }

  // -1 = reads as zero.
  int64_t pixelAt(double x) const {
    if (x >= 0 && x <= static_cast<double>(size - 1)) return static_cast<int64_t>(x);
    if (rule.padding == readers::GridPadding::Zeros) return -1;
    if (rule.padding == readers::GridPadding::Reflection) x = reflected(x);
    return static_cast<int64_t>(std::clamp(x, 0.0, static_cast<double>(size - 1)));
  }

  // Keys' cubic convolution.
  static double cubic(double distance) {
    constexpr double a = -0.75;
    const double d = std::abs(distance), square = d * d, cube = square * d;
    if (d <= 1) return (a + 2) * cube - (a + 3) * square + 1;
    return d < 2 ? a * cube - 5 * a * square + 8 * a * d - 4 * a : 0;
  }

  // Calls body(pixel, weight) for every tap.
  template <class Body>
  void forEachTap(double x, Body body) const {
    if (rule.mode == readers::GridMode::Nearest) return body(pixelAt(padded(std::nearbyint(x))), 1.0);
    const double place = padded(x), below = std::floor(place);
    const int reach = rule.mode == readers::GridMode::Linear ? 1 : 2;
    for (int i = 1 - reach; i <= reach; ++i) {
      const double distance = place - (below + i);
      body(pixelAt(below + i), reach == 1 ? 1 - std::abs(distance) : cubic(distance));
    }
  }
};

template <class T>
void gridSampleAs(const Call& call) {
  const readers::Grid rule(call.node.attributes);
  const ImageShape x(call.in().shape, Layout::ChannelsFirst), y(call.out().shape, Layout::ChannelsFirst);
  const std::vector<double> input = load<double>(call.in()), grid = load<double>(call.in(1));
  std::vector<double> output = repeated<double>(call.out().count());
  const int rank = x.spatial.rank(), count = rule.taps();
  SampleTaps taps(rank, count);
  const int64_t pixels = y.spatial.product(0, rank);
  for (int64_t i = 0; i < x.batch * pixels; ++i) {
    for (int axis = 0; axis < rank; ++axis) {
      const GridAxis line{rule, x.spatial[axis]};
      auto at = static_cast<size_t>(axis * count);
      line.forEachTap(line.pixels(static_cast<T>(grid[static_cast<size_t>(i * rank + rank - 1 - axis)])),
                      [&](int64_t pixel, double weight) {
                        taps.pixels[at] = pixel;
                        taps.weights[at++] = weight;
                      });
    }
    for (int64_t c = 0; c < x.channels; ++c, passWork(256))
      output[static_cast<size_t>(i / pixels * y.batchStride + c * y.channelStride + i % pixels)] =
          sample(input.data() + i / pixels * x.batchStride + c * x.channelStride, x.spatialStrides, taps);
  }
  store(call.out(), output);
}

void gridSample(const Call& call) {
  if (call.in(1).dtype == DType::Float64) return gridSampleAs<double>(call);
  gridSampleAs<float>(call);
}

// A sample between two pixels of an axis.
struct Between {
  int64_t pixels[2];
  double weights[2];
};

// One axis of a region.
struct RegionAxis {
  double start, binSize;
  int64_t pixels, samples;  // of the image; of a bin, with those outside of the image

  RegionAxis(const readers::AlignedRegions& rule, double from, double to, int64_t bins, int64_t size)
      : start(from * double{rule.scale} - (rule.isHalfPixel ? 0.5 : 0)), pixels(size) {
    const double length = (to - from) * double{rule.scale};
    binSize = (rule.isHalfPixel ? length : std::max(length, 1.0)) / static_cast<double>(bins);
    constexpr double kMost = 1e15;
    const double adapted = std::min(std::ceil(binSize), kMost);
    samples = rule.samples > 0 ? rule.samples : adapted > 0 ? static_cast<int64_t>(adapted) : 0;
  }

  // The samples of a bin that lie on the image or less than a pixel beside it. Bins far larger than the image have more
  // others than a loop could pass.
  std::vector<Between> of(int64_t bin) const {
    const double step = binSize / static_cast<double>(samples), first = start + static_cast<double>(bin) * binSize;
    const double before = step > 0 ? std::floor((-1 - first) / step) - 2 : 0;
    std::vector<Between> result;
    for (double i = std::max(before, 0.0); i < static_cast<double>(samples); ++i, passWork(4)) {
      const double at = first + (i + 0.5) * step;
      if (at > static_cast<double>(pixels) && step > 0) break;
      if (!(at >= -1 && at <= static_cast<double>(pixels))) continue;
      const double place = std::clamp(at, 0.0, static_cast<double>(pixels - 1)), below = std::floor(place);
      const auto pixel = static_cast<int64_t>(below);
      result.push_back({{pixel, std::min(pixel + 1, pixels - 1)}, {1 - (place - below), place - below}});
    }
    return result;
  }
};

// One bin of one channel. "max" takes the greatest weighted pixel, as the operator is defined.
double poolBin(const double* image, int64_t width, const std::vector<Between>& rows,
               const std::vector<Between>& columns, bool takesMax, double count) {
  double sum = 0, greatest = -INFINITY;
  WorkCounter work;
  for (const Between& row : rows)
    for (const Between& column : columns)
      for (int corner = 0; corner < 4; ++corner, work.pass(4)) {
        const int i = corner / 2, j = corner % 2;
        const double part = row.weights[i] * column.weights[j] * image[row.pixels[i] * width + column.pixels[j]];
        sum += part;
        greatest = std::max(greatest, part);
      }
  if (takesMax) return greatest == -INFINITY ? 0 : greatest;
  return sum / std::max(count, 1.0);
}

void roiAlign(const Call& call) {
  const readers::AlignedRegions rule(call.node.attributes);
  const Shape &x = call.in().shape, &y = call.out().shape;
  const std::vector<double> input = load<double>(call.in()), regions = load<double>(call.in(1));
  const std::vector<int64_t> images = loadIntegers(call.in(2));
  std::vector<double> output;
  for (int64_t region = 0; region < y[0]; ++region) {
    const int64_t image = images[static_cast<size_t>(region)];
    if (image < 0 || image >= x[0])
      call.fail(MAX_STATUS_OUT_OF_RANGE, "batch index ", image, " is not in [0, ", x[0], ")");
    const double* box = regions.data() + region * 4;
    const RegionAxis rows(rule, box[1], box[3], y[2], x[2]), columns(rule, box[0], box[2], y[3], x[3]);
    const double count = static_cast<double>(rows.samples) * static_cast<double>(columns.samples);
    for (int64_t c = 0; c < x[1]; ++c)
      for (int64_t row = 0; row < y[2]; ++row)
        for (int64_t column = 0; column < y[3]; ++column, passWork(64))
          output.push_back(poolBin(input.data() + (image * x[1] + c) * x[2] * x[3], x[3], rows.of(row),
                                   columns.of(column), rule.takesMax, count));
  }
  store(call.out(), output);
}

const OpRow kRows[] = {
    {"", "GridSample", kReference<gridSample>},
    {"", "RoiAlign", kReference<roiAlign>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceImageOps() { return reference::kRows; }

}  // namespace max
