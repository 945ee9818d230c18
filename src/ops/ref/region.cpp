// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool.
#include <algorithm>

#include "base/interrupt_point.h"
#include "graph/readers/image.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// A coordinate on the grid of pixels; nonsense becomes a pixel far away, or 0.
int64_t pixelOf(double coordinate, double scale) {
  constexpr double kFar = 1 << 30;
  const double scaled = std::floor(coordinate * scale + 0.5);
  return std::isnan(scaled) ? 0 : static_cast<int64_t>(std::clamp(scaled, -kFar, kFar));
}

struct Range {
  int64_t begin, end;
};

// Cell `index` of `cells` equal ones from pixel first to pixel last, within the image.
Range cellOf(int64_t first, int64_t last, int64_t index, int64_t cells, int64_t size) {
  const double length = static_cast<double>(std::max<int64_t>(last - first + 1, 1)) / static_cast<double>(cells);
  const auto begin = static_cast<int64_t>(std::floor(static_cast<double>(index) * length));
  const auto end = static_cast<int64_t>(std::ceil(static_cast<double>(index + 1) * length));
  return {std::clamp<int64_t>(first + begin, 0, size), std::clamp<int64_t>(first + end, 0, size)};
}

double largestIn(const double* image, int64_t width, Range rows, Range columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
  double largest = -HUGE_VAL;
  WorkCounter work;
  for (int64_t y = rows.begin; y < rows.end; ++y, work.pass(4 + columns.end - columns.begin))
    for (int64_t x = columns.begin; x < columns.end; ++x) largest = std::max(largest, image[y * width + x]);
  return largest;
}

// Images [N, C, H, W] and regions [count, 5]: image, left, top, right, bottom, both ends included.
void maxRoiPool(const Call& call) {
  const Shape &in = call.in().shape, &out = call.out().shape;
  const std::vector<double> x = load<double>(call.in()), regions = load<double>(call.in(1));
  const auto scale = static_cast<double>(readers::PooledRegions(call.node.attributes).scale);
  const int64_t channels = in[1], height = in[2], width = in[3];
  std::vector<double> y = repeated<double>(call.out().count());
  for (size_t k = 0; k < y.size(); ++k, passWork(128)) {
    const auto at = static_cast<int64_t>(k);
    const int64_t column = at % out[3], row = at / out[3] % out[2], channel = at / (out[3] * out[2]) % channels;
    const double* region = regions.data() + at / (out[3] * out[2] * channels) * 5;
    if (!(region[0] >= 0 && region[0] < static_cast<double>(in[0])))
      call.fail(MAX_STATUS_OUT_OF_RANGE, "image ", region[0], " of a region is not in [0, ", in[0], ")");
    const Range rows = cellOf(pixelOf(region[2], scale), pixelOf(region[4], scale), row, out[2], height);
    const Range columns = cellOf(pixelOf(region[1], scale), pixelOf(region[3], scale), column, out[3], width);
    const double* image = x.data() + (static_cast<int64_t>(region[0]) * channels + channel) * height * width;
    y[k] = largestIn(image, width, rows, columns);
  }
  store(call.out(), y);
}

const OpRow kRows[] = {{"", "MaxRoiPool", kReference<maxRoiPool>}};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceRegionOps() { return reference::kRows; }

}  // namespace max
