// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose, ConvInteger, QLinearConv, Col2Im and the compiler's: any rank, groups, dilations.
#include "base/interrupt_point.h"
#include "graph/readers/matrix.h"
#include "graph/readers/quantization.h"
#include "ops/ref/sample.h"
#include "ops/ref/window.h"

namespace max::reference {

namespace {

// The pixels in a window at one output position: input offset and tap number.
struct Tap {
  int64_t input;
  int64_t weight;
};

void findTaps(const WindowShapes& window, const ImageShape& image, const Shape& output, std::vector<Tap>& taps) {
  taps.clear();
  Shape tap = Shape::filled(window.kernel.rank(), 0), position = tap;
  int64_t number = 0;
  if (window.kernel.product(0, window.kernel.rank()) == 0) return;
  WorkCounter work;
  do {
    if (window.locate(output, tap, image.spatial, position)) taps.push_back({image.offset(position), number});
    ++number;
    work.pass(8);
  } while (advance(tap, window.kernel));
}

template <class D>
struct Convolution {
  ImageShape x, y;
  WindowShapes window;
  int64_t group, channelsPerGroup, outputsPerGroup, taps;
  std::vector<D> input, weights, output;

  Convolution(const Call& call, Layout layout, size_t weightInput = 1)
      : x(call.in().shape, layout),
        y(call.out().shape, layout),
        window(windowsOf(call.node, call.in(weightInput).shape), x.spatial, y.spatial),
        group(readers::readGroups(call.node.attributes)),
        channelsPerGroup(x.channels / group),
        outputsPerGroup(y.channels / group),
        taps(window.kernel.product(0, window.kernel.rank())),
        input(load<D>(call.in())),
        weights(load<D>(call.in(weightInput))),
        output(repeated<D>(call.out().count())) {}

  D sum(int64_t n, int64_t m, const std::vector<Tap>& seen) const {
    const D* image = input.data() + n * x.batchStride + m / outputsPerGroup * channelsPerGroup * x.channelStride;
    const D* filter = weights.data() + m * channelsPerGroup * taps;
    const Tap *first = seen.data(), *last = first + seen.size();
    D result = 0;
    WorkCounter work;
    for (int64_t c = 0; c < channelsPerGroup; ++c, image += x.channelStride, filter += taps) {
      for (const Tap* tap = first; tap != last; ++tap) result += image[tap->input] * filter[tap->weight];
      work.pass(1 + 2 * (last - first));
    }
    return result;
  }

  void run() {
    if (output.empty() || channelsPerGroup == 0) return;
    Shape position = Shape::filled(y.spatial.rank(), 0);
    auto seen = emptyFor<Tap>(std::min(taps, x.spatial.product(0, x.spatial.rank())));
    WorkCounter work;
    do {
      findTaps(window, x, position, seen);
      const int64_t at = y.offset(position);
      for (int64_t n = 0; n < y.batch; ++n)
        for (int64_t m = 0; m < y.channels;
             ++m, work.pass(8 + channelsPerGroup * (1 + static_cast<int64_t>(seen.size()))))
          output[static_cast<size_t>(n * y.batchStride + m * y.channelStride + at)] = sum(n, m, seen);
    } while (advance(position, y.spatial));
  }
};

void conv(const Call& call) {
  Convolution<double> convolution(call, Layout::ChannelsFirst);
  convolution.run();
  const std::vector<double> bias = call.has(2) ? load<double>(call.in(2)) : std::vector<double>();
  const int64_t inner = convolution.y.channelStride;
  WorkCounter work;
  for (size_t i = 0; i < convolution.output.size() && !bias.empty(); ++i, work.pass(4))
    convolution.output[i] += bias[i / static_cast<size_t>(inner) % bias.size()];
  store(call.out(), convolution.output);
}

void fusedConv(const Call& call) {
  Convolution<double> convolution(call, Layout::ChannelsLast);
  convolution.run();
  const std::vector<double> bias = call.has(2) ? load<double>(call.in(2)) : std::vector<double>();
  const std::vector<double> residual = call.has(3) ? load<double>(call.in(3)) : std::vector<double>();
  const Activation activation = fusedActivation(call.node);
  const bool addsLast = readers::addsResidualLast(call.node.attributes);
  WorkCounter work;
  for (size_t i = 0; i < convolution.output.size(); ++i) {
    work.pass(32);
    double& value = convolution.output[i];
    if (!bias.empty()) value += bias[i % bias.size()];
    if (!residual.empty() && !addsLast) value += residual[i];
    value = activation(value);
    if (!residual.empty() && addsLast) value += residual[i];
  }
  store(call.out(), convolution.output);
}

// A pointwise product, then a depthwise convolution: X, weights of both, biases of both.
void expandConv(const Call& call) {
  const std::vector<double> x = load<double>(call.in()), weights = load<double>(call.in(1));
  const std::vector<double> bias = call.has(3) ? load<double>(call.in(3)) : std::vector<double>();
  const int64_t filters = call.in(1).shape[0], channels = call.in(1).shape[1];
  const int64_t pixels = call.in().shape.product(0, call.in().shape.rank() - 1);
  const Activation activation = fusedActivation(call.node, "expand_");
  Shape shape = call.in().shape;
  shape[shape.rank() - 1] = filters;
  std::vector<double> products(static_cast<size_t>(shape.count()));
  WorkCounter work;
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t m = 0; m < filters; ++m, work.pass(32 + channels)) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(m)];
      for (int64_t c = 0; c < channels; ++c)
        sum += x[static_cast<size_t>(pixel * channels + c)] * weights[static_cast<size_t>(m * channels + c)];
      products[static_cast<size_t>(pixel * filters + m)] = activation(sum);
    }
  std::vector<Argument> inputs{{DType::Float64, shape, products.data()}, call.in(2)};
  if (call.has(4)) inputs.push_back(call.in(4));
  fusedConv({call.node, std::move(inputs), call.outputs});
}

// Integer convolution: zero points are subtracted first; padding adds nothing.
void subtractZeroPoint(const Call& call, size_t index, std::vector<int64_t>& values, int64_t inner) {
  if (!call.has(index)) return;
  const std::vector<int64_t> zero = load<int64_t>(call.in(index));
  if (zero.empty()) return;
  WorkCounter work;
  for (size_t i = 0; i < values.size(); ++i, work.pass(8))
    values[i] -= zero[i / static_cast<size_t>(inner) % zero.size()];
}

template <Layout kLayout>
Convolution<int64_t> integerConvolution(const Call& call, size_t weightInput, size_t inputZero, size_t weightZero) {
  Convolution<int64_t> convolution(call, kLayout, weightInput);
  const int64_t perOutput = convolution.channelsPerGroup * convolution.taps;
  subtractZeroPoint(call, inputZero, convolution.input, static_cast<int64_t>(convolution.input.size()) + 1);
  subtractZeroPoint(call, weightZero, convolution.weights, std::max<int64_t>(perOutput, 1));
  convolution.run();
  return convolution;
}

void convInteger(const Call& call) {
  store(call.out(), integerConvolution<Layout::ChannelsFirst>(call, 1, 2, 3).output);
}

// Perhaps with a factor and a number to add, in float32.
void scaledConvInteger(const Call& call) {
  const std::vector<int64_t> sums = integerConvolution<Layout::ChannelsLast>(call, 1, 2, 3).output;
  if (!call.has(4)) return store(call.out(), sums);
  const std::vector<double> factors = loadScales(call, 4);
  const std::vector<double> addends = call.has(5) ? load<double>(call.in(5)) : std::vector<double>();
  std::vector<double> y(sums.size());
  WorkCounter work;
  for (size_t i = 0; i < y.size(); ++i, work.pass(8)) {
    const auto factor = static_cast<float>(factors[i % factors.size()]);
    const float product = static_cast<float>(static_cast<int32_t>(sums[i])) * factor;
    y[i] = addends.empty() ? product : product + static_cast<float>(addends[i % addends.size()]);
  }
  store(call.out(), y);
}

// The sum of a quantised number and another one, or one of its channel, quantised again. In float32, like
// DequantizeLinear, Add and QuantizeLinear, but with scales and channels' numbers divided by the sum's scale
// beforehand.
void addOther(const Call& call, std::vector<double>& y) {
  const auto number = [&](size_t input) { return static_cast<float>(loadScalar(call.in(input), 0)); };
  const bool isResidual = call.has(9);
  const std::vector<double> other = load<double>(call.in(isResidual ? 9 : 14));
  const std::vector<double> multipliers = call.has(15) ? load<double>(call.in(15)) : std::vector<double>{1};
  const float ownFactor = number(6) / number(12), ownZero = number(7);
  const float otherFactor = isResidual ? number(10) / number(12) : 0, otherZero = isResidual ? number(11) : 0;
  const double zero = loadScalar(call.in(13), 0);
  const readers::QuantizedRange whole(Attributes(), call.in(7).dtype);
  WorkCounter work;
  for (size_t i = 0; i < y.size(); ++i, work.pass(16)) {
    const double own = std::min<double>(std::max<double>(whole.low, y[i]), whole.high);
    const float factor = ownFactor * static_cast<float>(multipliers[i % multipliers.size()]);
    const float a = (static_cast<float>(own) - ownZero) * factor;
    const float b = isResidual ? (static_cast<float>(other[i]) - otherZero) * otherFactor
                               : static_cast<float>(other[i % other.size()]) / number(12);
    y[i] = requantized(1, a + b) + zero;
  }
}

// Inputs: x, its scale and zero point, w, its scale and zero point, y's scale and zero point, bias.
template <Layout kLayout>
std::vector<double> quantizedSums(const Call& call) {
  const Convolution<int64_t> convolution = integerConvolution<kLayout>(call, 3, 2, 5);
  const std::vector<double> weightScale = loadScales(call, 4);
  const auto scale = static_cast<float>(loadScalar(call.in(1), 1)),
             result = static_cast<float>(loadScalar(call.in(6), 1));
  const double zero = loadScalar(call.in(7), 0);
  const std::vector<int64_t> bias = call.has(8) ? load<int64_t>(call.in(8)) : std::vector<int64_t>();
  const size_t inner = static_cast<size_t>(convolution.y.channelStride);
  const size_t channels = static_cast<size_t>(convolution.y.channels);
  std::vector<double> y(convolution.output.size());
  WorkCounter work;
  for (size_t i = 0; i < y.size(); ++i, work.pass(16)) {
    const size_t channel = i / inner % channels;
    const int64_t sum = convolution.output[i] + (bias.empty() ? 0 : bias[channel]);
    const float factor = scale * static_cast<float>(weightScale[channel % weightScale.size()]) / result;
    y[i] = requantized(static_cast<int32_t>(sum), factor) + zero;
  }
  return y;
}

void quantizedConv(const Call& call) { store(call.out(), quantizedSums<Layout::ChannelsFirst>(call)); }

void fusedQuantizedConv(const Call& call) {
  std::vector<double> y = quantizedSums<Layout::ChannelsLast>(call);
  if (call.has(9) || call.has(14)) addOther(call, y);
  const readers::QuantizedRange range(call.node.attributes, call.out().dtype);
  for (double& value : y) value = std::min<double>(std::max<double>(range.low, value), range.high);
  store(call.out(), y);
}

// weights: [C, M / group, k..]. Every input pixel adds its filter to the output.
struct Transposed {
  ImageShape x, y;
  WindowShapes window;
  int64_t group, outputsPerGroup, taps;
  std::vector<double> input, weights, output;

  Transposed(const Call& call, Layout layout)
      : x(call.in().shape, layout),
        y(call.out().shape, layout),
        window(windowsOf(call.node, call.in(1).shape), x.spatial, y.spatial),
        group(readers::readGroups(call.node.attributes)),
        outputsPerGroup(call.in(1).shape[1]),
        taps(window.kernel.product(0, window.kernel.rank())),
        input(load<double>(call.in())),
        weights(load<double>(call.in(1))),
        output(repeated<double>(call.out().count())) {
    const readers::Transposed reader(call.node.attributes, call.in(1).shape.dims().subspan(2));
    for (int i = 0; i < x.spatial.rank(); ++i)
      window.padsBegin[i] = reader.padBegin(static_cast<size_t>(i), x.spatial[i], y.spatial[i]);
  }

  void add(int64_t source, int64_t target, int64_t tap) {
    WorkCounter work;
    for (int64_t n = 0; n < x.batch; ++n)
      for (int64_t c = 0; c < x.channels; ++c, work.pass(4 + 4 * outputsPerGroup)) {
        const double value = input[static_cast<size_t>(n * x.batchStride + c * x.channelStride + source)];
        const int64_t first = c / (x.channels / group) * outputsPerGroup;
        for (int64_t m = 0; m < outputsPerGroup; ++m)
          output[static_cast<size_t>(n * y.batchStride + (first + m) * y.channelStride + target)] +=
              value * weights[static_cast<size_t>((c * outputsPerGroup + m) * taps + tap)];
      }
  }

  // The output position of an input position and tap; false outside the output.
  bool meet(const Shape& position, const Shape& tap, Shape& target) const {
    for (int i = 0; i < position.rank(); ++i) {
      target[i] = position[i] * window.strides[i] + tap[i] * window.dilations[i] - window.padsBegin[i];
      if (target[i] < 0 || target[i] >= y.spatial[i]) return false;
    }
    return true;
  }

  void run() {
    if (output.empty() || input.empty() || taps == 0) return;
    Shape position = Shape::filled(x.spatial.rank(), 0), tap = position, target = position;
    WorkCounter work;
    do {
      int64_t number = 0;
      do {
        work.pass(8);
        if (meet(position, tap, target)) {
          add(x.offset(position), y.offset(target), number);
          work.pass(x.batch * x.channels * outputsPerGroup * 4);
        }
        ++number;
      } while (advance(tap, window.kernel));
    } while (advance(position, x.spatial));
  }
};

template <Layout kLayout>
void convTranspose(const Call& call) {
  Transposed convolution(call, kLayout);
  convolution.run();
  const std::vector<double> bias = call.has(2) ? load<double>(call.in(2)) : std::vector<double>();
  const Activation activation = fusedActivation(call.node);
  WorkCounter work;
  for (size_t i = 0; i < convolution.output.size(); ++i, work.pass(32)) {
    double& value = convolution.output[i];
    if (!bias.empty()) value += bias[i / static_cast<size_t>(convolution.y.channelStride) % bias.size()];
    value = activation(value);
  }
  store(call.out(), convolution.output);
}

// The sum of all columns in the images that they came from.
void col2Im(const Call& call) {
  const ImageShape y(call.out().shape, Layout::ChannelsFirst);
  const std::vector<int64_t> block = loadIntegers(call.in(2));
  const WindowShapes window(readers::readWindows(call.node.attributes, block), y.spatial, y.spatial);
  Shape positions;
  for (int i = 0; i < y.spatial.rank(); ++i)
    positions.push(
        (y.spatial[i] + window.padsBegin[i] + window.padsEnd[i] - (window.kernel[i] - 1) * window.dilations[i] - 1) /
            window.strides[i] +
        1);
  const int64_t columns = call.in().shape[2], taps = window.kernel.product(0, window.kernel.rank());
  if (columns != positions.count()) call.fail(MAX_STATUS_INVALID_ARGUMENT, columns, " columns for ", positions);
  visitDomain(call.in().dtype, [&]<class D>(D) {
    const std::vector<D> x = load<D>(call.in());
    std::vector<D> image = repeated<D>(call.out().count());
    Shape tap = Shape::filled(window.kernel.rank(), 0), position = tap, target = tap;
    WorkCounter work;
    for (int64_t number = 0; number < taps && !x.empty(); ++number, advance(tap, window.kernel)) {
      for (int64_t column = 0; column < columns; ++column, advance(position, positions)) {
        work.pass(8);
        if (!window.locate(position, tap, y.spatial, target)) continue;
        const int64_t offset = y.offset(target);
        for (int64_t c = 0; c < y.batch * y.channels; ++c, work.pass(4)) {
          D& sum = image[static_cast<size_t>(c * y.channelStride + offset)];
          sum = add(sum, x[static_cast<size_t>((c * taps + number) * columns + column)]);
        }
      }
    }
    store(call.out(), image);
  });
}

// A convolution with taps at the given offsets.
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

  // The value of tap `number` at output pixel `pixel` of a channel.
  double at(int64_t n, int64_t channel, const Shape& tap, int64_t number, const Shape& position, int64_t pixel) const {
    const int64_t group = (n * offsetGroups + channel / channelsPerOffsets) * taps + number;
    SampleTaps corners(rank, 2);
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
    {"", "Col2Im", kReference<col2Im>},
    {"", "Conv", kReference<conv>},
    {"", "ConvInteger", kReference<convInteger>},
    {"", "QLinearConv", kReference<quantizedConv>},
    {"", "ConvTranspose", kReference<convTranspose<Layout::ChannelsFirst>>},
    {kMaxDomain, "Conv", kReference<fusedConv>},
    {kMaxDomain, "ExpandConv", kReference<expandConv>},
    {kMaxDomain, "ConvTranspose", kReference<convTranspose<Layout::ChannelsLast>>},
    {kMaxDomain, "ConvInteger", kReference<scaledConvInteger>},
    {kMaxDomain, "QLinearConv", kReference<fusedQuantizedConv>},
    {"", "DeformConv", kReference<deformConv>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceConvOps() { return reference::kRows; }

}  // namespace max
