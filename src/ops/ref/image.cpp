// SPDX-License-Identifier: Apache-2.0
// GridSample, RoiAlign, DeformConv: operators that read between the pixels.
#include "base/interrupt_point.h"
#include "ops/cpu/image/grid_axis.h"
#include "ops/cpu/image/roi_axis.h"
#include "ops/ref/window.h"

namespace max::reference {

namespace {

// The pixels and weights of one sample along each axis.
struct Taps {
  int count;
  std::vector<int64_t> pixels;
  std::vector<double> weights;

  Taps(int rank, int count_)
      : count(count_), pixels(static_cast<size_t>(rank * count_)), weights(static_cast<size_t>(rank * count_)) {}
};

// The sum of all combinations of taps in an image of one channel.
double sample(const double* image, const Shape& strides, const Taps& taps) {
  const Shape all = Shape::filled(strides.rank(), taps.count);
  Shape tap = Shape::filled(strides.rank(), 0);
  double sum = 0;
  WorkCounter work;
  do {
    work.pass(16);
    int64_t offset = 0;
    double weight = 1;
    for (int axis = 0; axis < strides.rank(); ++axis) {
      const auto at = static_cast<size_t>(axis * taps.count + tap[axis]);
      offset = taps.pixels[at] < 0 || offset < 0 ? -1 : offset + taps.pixels[at] * strides[axis];
      weight *= taps.weights[at];
    }
    if (offset >= 0) sum += weight * image[offset];
  } while (advance(tap, all));
  return sum;
}

// The nearest pixel and the weights do not depend on more precision than the grid has.
template <class T>
void gridSampleAs(const Call& call) {
  const readers::Grid rule(call.node.attributes);
  const ImageShape x(call.in().shape, Layout::ChannelsFirst), y(call.out().shape, Layout::ChannelsFirst);
  const std::vector<double> input = load<double>(call.in()), grid = load<double>(call.in(1));
  std::vector<double> output = repeated<double>(call.out().count());
  const int rank = x.spatial.rank(), count = rule.taps();
  std::vector<GridAxis<T>> axes;
  for (int axis = 0; axis < rank; ++axis) axes.emplace_back(rule, x.spatial[axis]);
  Taps taps(rank, count);
  std::vector<T> weights(static_cast<size_t>(count));
  const int64_t pixels = y.spatial.product(0, rank);
  for (int64_t i = 0; i < x.batch * pixels; ++i) {
    for (int axis = 0; axis < rank; ++axis) {
      const T coordinate = static_cast<T>(grid[static_cast<size_t>(i * rank + rank - 1 - axis)]);
      axes[static_cast<size_t>(axis)].locate(coordinate, taps.pixels.data() + axis * count, weights.data());
      std::copy(weights.begin(), weights.end(), taps.weights.begin() + axis * count);
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

// One bin of one channel. "max" takes the greatest weighted pixel, as the operator is defined.
double poolBin(const double* image, int64_t width, const RoiAxis& rows, int64_t row, const RoiAxis& columns,
               int64_t column, bool takesMax) {
  double sum = 0, greatest = -INFINITY;
  WorkCounter work;
  rows.forEachSample(row, [&](int64_t top, int64_t bottom, double a, double b) {
    columns.forEachSample(column, [&](int64_t left, int64_t right, double c, double d) {
      const double parts[] = {a * c * image[top * width + left], a * d * image[top * width + right],
                              b * c * image[bottom * width + left], b * d * image[bottom * width + right]};
      work.pass(16);
      for (const double part : parts) {
        sum += part;
        greatest = std::max(greatest, part);
      }
    });
  });
  if (takesMax) return greatest == -INFINITY ? 0 : greatest;
  return sum / std::max(static_cast<double>(rows.samples()) * static_cast<double>(columns.samples()), 1.0);
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
    const RoiAxis rows(rule, box[1], box[3], y[2], x[2]), columns(rule, box[0], box[2], y[3], x[3]);
    for (int64_t c = 0; c < x[1]; ++c)
      for (int64_t row = 0; row < y[2]; ++row)
        for (int64_t column = 0; column < y[3]; ++column, passWork(64))
          output.push_back(poolBin(input.data() + (image * x[1] + c) * x[2] * x[3], x[3], rows, row, columns, column,
                                   rule.takesMax));
  }
  store(call.out(), output);
}

// A convolution whose taps lie where the offsets say.
struct Deformed {
  const Call& call;
  ImageShape x, y;
  WindowShapes window;
  int rank;
  int64_t taps, pixels, offsetGroups, channelsPerOffsets;
  std::vector<double> input, offsets, mask;

  explicit Deformed(const Call& c)
      : call(c),
        x(c.in().shape, Layout::ChannelsFirst),
        y(c.out().shape, Layout::ChannelsFirst),
        window(windowsOf(c.node, c.in(1).shape), x.spatial, y.spatial),
        rank(x.spatial.rank()),
        taps(window.kernel.product(0, rank)),
        pixels(y.spatial.product(0, rank)),
        offsetGroups(readers::readOffsetGroups(c.node.attributes)),
        channelsPerOffsets(std::max<int64_t>(x.channels / offsetGroups, 1)),
        input(load<double>(c.in())),
        offsets(load<double>(c.in(2))),
        mask(c.has(4) ? load<double>(c.in(4)) : std::vector<double>()) {}

  // What tap `number` at output pixel `pixel` sees of a channel.
  double at(int64_t n, int64_t channel, const Shape& tap, int64_t number, const Shape& position, int64_t pixel) const {
    const int64_t group = (n * offsetGroups + channel / channelsPerOffsets) * taps + number;
    Taps corners(rank, 2);
    for (int axis = 0; axis < rank; ++axis) {
      const double place = static_cast<double>(position[axis] * window.strides[axis] - window.padsBegin[axis] +
                                               tap[axis] * window.dilations[axis]) +
                           offsets[static_cast<size_t>((group * rank + axis) * pixels + pixel)];
      const double size = static_cast<double>(x.spatial[axis]);
      const double low = place > -1 && place < size ? std::floor(place) : -2;
      for (int side = 0; side < 2; ++side) {
        const int64_t corner = static_cast<int64_t>(low) + side;
        const auto k = static_cast<size_t>(axis * 2 + side);
        corners.pixels[k] = corner < x.spatial[axis] && corner >= 0 ? corner : -1;
        corners.weights[k] = side ? place - low : 1 - (place - low);
      }
    }
    const double value =
        sample(input.data() + n * x.batchStride + channel * x.channelStride, x.spatialStrides, corners);
    return mask.empty() ? value : value * mask[static_cast<size_t>(group * pixels + pixel)];
  }
};

void deformConv(const Call& call) {
  const Deformed conv(call);
  const std::vector<double> weights = load<double>(call.in(1));
  const std::vector<double> bias = call.has(3) ? load<double>(call.in(3)) : std::vector<double>();
  std::vector<double> output = repeated<double>(call.out().count());
  const int64_t group = readers::readGroups(call.node.attributes), depth = conv.x.channels / group,
                filters = conv.y.channels / group;
  if (output.empty()) return;
  Shape position = Shape::filled(conv.rank, 0);
  WorkCounter work;
  for (int64_t pixel = 0; pixel < conv.pixels; ++pixel, advance(position, conv.y.spatial))
    for (int64_t n = 0; n < conv.x.batch; ++n) {
      for (int64_t c = 0; c < conv.x.channels; ++c) {
        Shape tap = Shape::filled(conv.rank, 0);
        for (int64_t number = 0; number < conv.taps; ++number, advance(tap, conv.window.kernel)) {
          const double value = conv.at(n, c, tap, number, position, pixel);
          work.pass(256 + 4 * filters);
          for (int64_t m = c / depth * filters; m < (c / depth + 1) * filters; ++m)
            output[static_cast<size_t>(n * conv.y.batchStride + m * conv.pixels + pixel)] +=
                value * weights[static_cast<size_t>((m * depth + c % depth) * conv.taps + number)];
        }
      }
      for (int64_t m = 0; m < conv.y.channels && !bias.empty(); ++m)
        output[static_cast<size_t>(n * conv.y.batchStride + m * conv.pixels + pixel)] += bias[static_cast<size_t>(m)];
    }
  store(call.out(), output);
}

const OpRow kRows[] = {
    {"", "GridSample", kReference<gridSample>},
    {"", "RoiAlign", kReference<roiAlign>},
    {"", "DeformConv", kReference<deformConv>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceImageOps() { return reference::kRows; }

}  // namespace max
