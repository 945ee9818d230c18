// SPDX-License-Identifier: Apache-2.0
// GridSample and RoiAlign: operators that read between the pixels.
#include "base/interrupt_point.h"
#include "ops/cpu/image/grid_axis.h"
#include "ops/cpu/image/roi_axis.h"
#include "ops/ref/sample.h"
#include "ops/ref/window.h"

namespace max::reference {

namespace {

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
  SampleTaps taps(rank, count);
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

const OpRow kRows[] = {
    {"", "GridSample", kReference<gridSample>},
    {"", "RoiAlign", kReference<roiAlign>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceImageOps() { return reference::kRows; }

}  // namespace max
