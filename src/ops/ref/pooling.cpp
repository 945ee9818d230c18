// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, LpPool, MaxRoiPool, the global pools, and the channels-last pools of the domain "max".
#include <algorithm>

#include "base/interrupt_point.h"
#include "graph/readers/image.h"
#include "graph/readers/normalization.h"
#include "ops/ref/window.h"

namespace max::reference {

namespace {

struct Pool {
  ImageShape x, y;
  readers::Pool reader;
  WindowShapes window;

  Pool(const Call& call, Layout layout)
      : x(call.in().shape, layout),
        y(call.out(call.hasOutput(0) ? 0 : 1).shape, layout),
        reader(call.node.attributes, static_cast<size_t>(x.spatial.rank())),
        window(reader.windows, x.spatial, y.spatial) {}

  // Calls body(input offsets in the window, output offset) for every window.
  template <class Body>
  void forEachWindow(Body body) const {
    if (y.batch * y.channels * y.spatial.product(0, y.spatial.rank()) == 0) return;
    auto seen = emptyFor<int64_t>(x.spatial.product(0, x.spatial.rank()));
    Shape output = Shape::filled(y.spatial.rank(), 0);
    do {
      for (int64_t n = 0; n < y.batch; ++n)
        for (int64_t c = 0; c < y.channels; ++c) {
          collect(output, n * x.batchStride + c * x.channelStride, seen);
          passWork(128 + 2 * static_cast<int64_t>(seen.size()));
          body(seen, n * y.batchStride + c * y.channelStride + y.offset(output), output);
        }
    } while (advance(output, y.spatial));
  }

  // The taps of an axis at positions in [low, high): kernels may be far larger than the input.
  struct Taps {
    int64_t first, end;
  };
  Taps tapsWithin(int axis, int64_t output, int64_t low, int64_t high) const {
    const int64_t start = output * window.strides[axis] - window.padsBegin[axis], step = window.dilations[axis];
    const int64_t first = start < low ? (low - start + step - 1) / step : 0;
    const int64_t end = start < high ? std::min(window.kernel[axis], (high - start + step - 1) / step) : 0;
    return {first, std::max(first, end)};
  }

  void collect(const Shape& output, int64_t base, std::vector<int64_t>& seen) const {
    seen.clear();
    Shape position = Shape::filled(window.kernel.rank(), 0), counts = position, tap = position;
    Shape first = position;
    for (int i = 0; i < counts.rank(); ++i) {
      const Taps taps = tapsWithin(i, output[i], 0, x.spatial[i]);
      first[i] = output[i] * window.strides[i] - window.padsBegin[i] + taps.first * window.dilations[i];
      counts[i] = taps.end - taps.first;
      if (counts[i] == 0) return;
    }
    WorkCounter work;
    do {
      work.pass(8);
      for (int i = 0; i < counts.rank(); ++i) position[i] = first[i] + tap[i] * window.dilations[i];
      seen.push_back(base + x.offset(position));
    } while (advance(tap, counts));
  }

  // Pixels of the window inside of the padded input: with ceil_mode it may extend beyond that.
  double paddedCount(const Shape& output) const {
    double count = 1;
    for (int i = 0; i < window.kernel.rank(); ++i) {
      const Taps taps = tapsWithin(i, output[i], -window.padsBegin[i], x.spatial[i] + window.padsEnd[i]);
      count *= static_cast<double>(taps.end - taps.first);
    }
    return count;
  }
};

// The flat index of ONNX: row-major, or with the spatial axes in column-major order.
int64_t indexOf(const Pool& pool, int64_t offset, bool columnMajor) {
  const int64_t area = pool.x.channelStride, inside = offset % area;
  if (!columnMajor || inside == 0) return offset;
  int64_t index = 0;
  int64_t stride = 1;
  for (int i = 0; i < pool.x.spatial.rank(); ++i) {
    index += inside / pool.x.spatialStrides[i] % pool.x.spatial[i] * stride;
    stride *= pool.x.spatial[i];
  }
  return offset - inside + index;
}

template <Layout kLayout>
void maxPool(const Call& call) {
  const Pool pool(call, kLayout);
  std::vector<int64_t> indices(call.hasOutput(1) ? static_cast<size_t>(call.out(1).count()) : 0);
  const size_t count = static_cast<size_t>(call.out(call.hasOutput(0) ? 0 : 1).count());
  visitDomain(call.in().dtype, [&]<class D>(D) {
    const std::vector<D> x = load<D>(call.in());
    std::vector<D> y = repeated<D>(static_cast<int64_t>(count));
    pool.forEachWindow([&](const std::vector<int64_t>& seen, int64_t out, const Shape&) {
      D best = std::is_floating_point_v<D> ? static_cast<D>(-INFINITY) : std::numeric_limits<D>::lowest();
      int64_t at = seen.empty() ? 0 : seen[0];
      WorkCounter work;
      for (const int64_t offset : seen) {
        work.pass(4);
        if (const D value = x[static_cast<size_t>(offset)]; value > best || value != value) best = value, at = offset;
      }
      y[static_cast<size_t>(out)] = best;
      if (!indices.empty()) indices[static_cast<size_t>(out)] = indexOf(pool, at, pool.reader.isColumnMajor);
    });
    if (call.hasOutput(0)) store(call.out(), y);
  });
  if (!indices.empty()) store(call.out(1), indices);
}

template <Layout kLayout>
void averagePool(const Call& call) {
  const Pool pool(call, kLayout);
  const std::vector<double> x = load<double>(call.in());
  std::vector<double> y = repeated<double>(call.out().count());
  pool.forEachWindow([&](const std::vector<int64_t>& seen, int64_t out, const Shape& position) {
    double sum = 0;
    for (const int64_t offset : seen) sum += x[static_cast<size_t>(offset)];
    const double count = pool.reader.includesPads ? pool.paddedCount(position) : static_cast<double>(seen.size());
    y[static_cast<size_t>(out)] = count > 0 ? sum / count : 0;
  });
  store(call.out(), y);
}

double norm(const std::vector<double>& values, double p) {
  double sum = 0;
  WorkCounter work;
  for (const double value : values) {
    sum += std::pow(std::abs(value), p);
    work.pass(64);
  }
  return std::pow(sum, 1 / p);
}

void lpPool(const Call& call) {
  const Pool pool(call, Layout::ChannelsFirst);
  const double p = static_cast<double>(readers::readPower(call.node.attributes));
  const std::vector<double> x = load<double>(call.in());
  std::vector<double> y = repeated<double>(call.out().count()), values;
  pool.forEachWindow([&](const std::vector<int64_t>& seen, int64_t out, const Shape&) {
    values.clear();
    for (const int64_t offset : seen) values.push_back(x[static_cast<size_t>(offset)]);
    y[static_cast<size_t>(out)] = norm(values, p);
  });
  store(call.out(), y);
}

// One value per image and channel: f gets all of its pixels.
template <class F>
void globalPool(const Call& call, F f) {
  const std::vector<double> x = load<double>(call.in());
  std::vector<double> y = repeated<double>(call.out().count()), pixels;
  const size_t area = y.empty() ? 0 : x.size() / y.size();
  for (size_t i = 0; i < y.size(); ++i, passWork(16 + 4 * static_cast<int64_t>(area))) {
    pixels.assign(x.begin() + static_cast<int64_t>(i * area), x.begin() + static_cast<int64_t>((i + 1) * area));
    y[i] = f(pixels);
  }
  store(call.out(), y);
}

void globalAveragePool(const Call& call) {
  globalPool(call, [](const std::vector<double>& pixels) {
    double sum = 0;
    for (const double value : pixels) sum += value;
    return sum / static_cast<double>(pixels.size());
  });
}

void globalMaxPool(const Call& call) {
  globalPool(call, [](const std::vector<double>& pixels) {
    double best = -INFINITY;
    for (const double value : pixels) best = value > best || std::isnan(value) ? value : best;
    return best;
  });
}

void globalLpPool(const Call& call) {
  const double p = static_cast<double>(readers::readPower(call.node.attributes));
  globalPool(call, [p](const std::vector<double>& pixels) { return norm(pixels, p); });
}

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

const OpRow kRows[] = {
    {"", "MaxRoiPool", kReference<maxRoiPool>},
    {"", "MaxPool", kReference<maxPool<Layout::ChannelsFirst>>},
    {"", "AveragePool", kReference<averagePool<Layout::ChannelsFirst>>},
    {"", "LpPool", kReference<lpPool>},
    {"", "GlobalAveragePool", kReference<globalAveragePool>},
    {"", "GlobalMaxPool", kReference<globalMaxPool>},
    {"", "GlobalLpPool", kReference<globalLpPool>},
    {kMaxDomain, "MaxPool", kReference<maxPool<Layout::ChannelsLast>>},
    {kMaxDomain, "AveragePool", kReference<averagePool<Layout::ChannelsLast>>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referencePoolOps() { return reference::kRows; }

}  // namespace max
