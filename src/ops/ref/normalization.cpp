// SPDX-License-Identifier: Apache-2.0
// Normalisations and the softmax family.
#include "graph/readers/normalization.h"

#include <algorithm>

#include "base/interrupt_point.h"
#include "graph/readers/quantization.h"
#include "ops/ref/line.h"

namespace max::reference {

namespace {

struct Moments {
  double mean, inverseDeviation;
};

// Mean and 1 / sqrt(variance + epsilon) of count values, `stride` apart.
Moments momentsOf(const double* values, size_t count, size_t stride, double epsilon) {
  double sum = 0, squares = 0;
  WorkCounter work;
  for (size_t i = 0; i < count; ++i, work.pass(2)) sum += values[i * stride];
  const double mean = sum / static_cast<double>(count);
  for (size_t i = 0; i < count; ++i, work.pass(2)) squares += (values[i * stride] - mean) * (values[i * stride] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(count) + epsilon)};
}

// Values of an optional input broadcast to `shape`; `fallback` if omitted.
std::vector<double> factors(const Call& call, size_t index, double fallback, const Shape& shape) {
  std::vector<double> values = repeated(shape.count(), fallback);
  if (!call.has(index)) return values;
  const std::vector<double> given = load<double>(call.in(index));
  forEachOffset<1>(shape, {broadcastStrides(call.in(index).shape, shape)}, [&](int64_t k, const auto& at) {
    values[static_cast<size_t>(k)] = given[static_cast<size_t>(at[0])];
  });
  return values;
}

// Replaces mean and variance of every channel by those of x, and stores the running ones.
void updateStatistics(const Call& call, const std::vector<double>& x, size_t inner, std::vector<double>& mean,
                      std::vector<double>& variance) {
  const std::vector<double> oldMean = mean, oldVariance = variance;
  const size_t channels = mean.size();
  const double count = channels ? static_cast<double>(x.size()) / static_cast<double>(channels) : 0;
  std::fill(mean.begin(), mean.end(), 0);
  std::fill(variance.begin(), variance.end(), 0);
  WorkCounter work;
  for (size_t i = 0; i < x.size(); ++i, work.pass(16)) mean[i / inner % channels] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i, work.pass(16)) {
    const double distance = x[i] - mean[i / inner % channels];
    variance[i / inner % channels] += distance * distance / count;
  }
  const auto momentum = static_cast<double>(readers::BatchNorm(call.node.attributes).momentum);
  const auto storeRunning = [&](size_t output, std::vector<double> running, const std::vector<double>& current) {
    for (size_t c = 0; c < channels; ++c) running[c] = running[c] * momentum + current[c] * (1 - momentum);
    if (call.hasOutput(output)) store(call.out(output), running);
  };
  storeRunning(1, oldMean, mean);
  storeRunning(2, oldVariance, variance);
}

void batchNormalization(const Call& call) {
  const std::vector<double> scale = load<double>(call.in(1)), bias = load<double>(call.in(2));
  std::vector<double> mean = load<double>(call.in(3)), variance = load<double>(call.in(4));
  const readers::BatchNorm read(call.node.attributes);
  const auto epsilon = static_cast<double>(read.epsilon);
  const Shape& shape = call.in().shape;
  const size_t inner = static_cast<size_t>(shape.product(std::min(2, shape.rank()), shape.rank()));
  std::vector<double> x = load<double>(call.in());
  if (read.isTraining) updateStatistics(call, x, inner, mean, variance);
  if (!call.hasOutput(0)) return;
  WorkCounter work;
  for (size_t i = 0; i < x.size(); ++i, work.pass(16)) {
    const size_t c = i / inner % scale.size();
    x[i] = (x[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  }
  store(call.out(), x);
}

// Normalises x over the axes from that of the reader on; fills the moments of each row, which are NaN for empty ones.
void layerNormalize(const Call& call, std::vector<double>& x, const Shape& shape, size_t scaleInput,
                    std::vector<double>& means, std::vector<double>& deviations) {
  const readers::LayerNorm reader(call.node.attributes, shape.rank());
  const size_t size = static_cast<size_t>(shape.product(reader.axis, shape.rank()));
  const std::vector<double> scale = factors(call, scaleInput, 1, shape), bias = factors(call, scaleInput + 1, 0, shape);
  WorkCounter work;
  for (size_t row = 0; row < static_cast<size_t>(shape.product(0, reader.axis)); ++row, work.pass(64)) {
    double* values = x.data() + row * size;
    const Moments moments = momentsOf(values, size, 1, static_cast<double>(reader.epsilon));
    means.push_back(moments.mean);
    deviations.push_back(moments.inverseDeviation);
    for (size_t i = 0; i < size; ++i, work.pass(4))
      values[i] = (values[i] - moments.mean) * moments.inverseDeviation * scale[row * size + i] + bias[row * size + i];
  }
}

void layerNormalization(const Call& call) {
  std::vector<double> x = load<double>(call.in()), means, deviations;
  layerNormalize(call, x, call.in().shape, 1, means, deviations);
  if (call.hasOutput(0)) store(call.out(0), x);
  if (call.hasOutput(1)) store(call.out(1), means);
  if (call.hasOutput(2)) store(call.out(2), deviations);
}

void addLayerNormalization(const Call& call) {
  const Shape& shape = call.out(call.hasOutput(0) ? 0 : 1).shape;
  std::vector<double> x = factors(call, 0, 0, shape), means, deviations;
  const std::vector<double> residual = factors(call, 1, 0, shape);
  WorkCounter work;
  for (size_t i = 0; i < x.size(); ++i, work.pass()) x[i] += residual[i];
  if (call.hasOutput(1)) store(call.out(1), x);
  layerNormalize(call, x, shape, 2, means, deviations);
  if (call.hasOutput(0)) store(call.out(0), x);
}

void rmsNormalization(const Call& call) {
  const Shape& shape = call.in().shape;
  const readers::LayerNorm reader(call.node.attributes, shape.rank());
  const size_t size = static_cast<size_t>(shape.product(reader.axis, shape.rank()));
  const std::vector<double> scale = factors(call, 1, 1, shape);
  std::vector<double> x = load<double>(call.in());
  WorkCounter work;
  for (size_t row = 0; size > 0 && row < x.size() / size; ++row) {
    double* values = x.data() + row * size;
    double squares = 0;
    work.pass(64);
    for (size_t i = 0; i < size; ++i, work.pass(2)) squares += values[i] * values[i];
    const double factor = 1 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(reader.epsilon));
    for (size_t i = 0; i < size; ++i, work.pass(2)) values[i] *= factor * scale[row * size + i];
  }
  store(call.out(), x);
}

// Normalises each of `groups` equal parts of every image; scale and bias are per channel.
void normalizeGroups(const Call& call, int64_t groups) {
  const Shape& shape = call.in().shape;
  const size_t parts = static_cast<size_t>(shape[0] * groups);
  const size_t channels = static_cast<size_t>(shape[1]);
  std::vector<double> x = load<double>(call.in());
  const std::vector<double> scale = load<double>(call.in(1)), bias = load<double>(call.in(2));
  const size_t size = parts ? x.size() / parts : 0;
  const size_t inner = static_cast<size_t>(shape.product(2, shape.rank()));
  for (size_t part = 0; size > 0 && part < parts; ++part, passWork(64)) {
    const Moments moments =
        momentsOf(x.data() + part * size, size, 1, static_cast<double>(readers::readEpsilon(call.node.attributes)));
    WorkCounter work;
    for (size_t i = part * size; i < (part + 1) * size; ++i, work.pass(16)) {
      const size_t c = i / inner % channels;
      // Older models give one factor per group instead of one per channel.
      const size_t s = c * scale.size() / channels;
      x[i] = (x[i] - moments.mean) * moments.inverseDeviation * scale[s] + bias[s];
    }
  }
  store(call.out(), x);
}

void instanceNormalization(const Call& call) { normalizeGroups(call, call.in().shape[1]); }
void groupNormalization(const Call& call) { normalizeGroups(call, readers::GroupNorm(call.node.attributes).groups); }

void localResponseNormalization(const Call& call) {
  const Shape& shape = call.in().shape;
  const readers::LocalResponse reader(call.node.attributes);
  const int64_t size = reader.size, channels = shape[1], inner = shape.product(2, shape.rank());
  const double alpha = reader.alpha, beta = reader.beta, bias = reader.bias;
  const std::vector<double> x = load<double>(call.in());
  std::vector<double> y(x.size());
  WorkCounter work;
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i, work.pass(64)) {
    const int64_t c = i / inner % channels;
    double squares = 0;
    for (int64_t k = std::max<int64_t>(0, c - (size - 1) / 2); k <= std::min(channels - 1, c + size / 2);
         ++k, work.pass(4)) {
      const double value = x[static_cast<size_t>(i + (k - c) * inner)];
      squares += value * value;
    }
    y[static_cast<size_t>(i)] =
        x[static_cast<size_t>(i)] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
  }
  store(call.out(), y);
}

void lpNormalization(const Call& call) {
  const Shape& shape = call.in().shape;
  const readers::LpNorm reader(call.node.attributes, shape.rank());
  const int axis = reader.axis;
  const int64_t size = shape[axis], inner = shape.product(axis + 1, shape.rank()), p = reader.p;
  std::vector<double> x = load<double>(call.in());
  WorkCounter work;
  for (int64_t line = 0; !x.empty() && line < shape.product(0, axis) * inner; ++line) {
    double* values = x.data() + line / inner * size * inner + line % inner;
    double sum = 0;
    for (int64_t i = 0; i < size; ++i, work.pass(4))
      sum += p == 1 ? std::abs(values[i * inner]) : values[i * inner] * values[i * inner];
    const double norm = p == 1 ? sum : std::sqrt(sum);
    for (int64_t i = 0; i < size; ++i, work.pass(4)) values[i * inner] = norm == 0 ? 0 : values[i * inner] / norm;
  }
  store(call.out(), x);
}

void meanVarianceNormalization(const Call& call) {
  const Shape& shape = call.in().shape;
  Shape kept = contiguousStrides(shape);
  for (int axis : readers::readNormalisedAxes(call.node.attributes, shape.rank())) kept[axis] = 0;
  std::vector<double> x = load<double>(call.in()), sum(x.size()), count(x.size()), squares(x.size());
  const auto at = [](const auto& offsets) { return static_cast<size_t>(offsets[0]); };
  forEachOffset<1>(shape, {kept},
                   [&](int64_t k, const auto& o) { sum[at(o)] += x[static_cast<size_t>(k)], ++count[at(o)]; });
  forEachOffset<1>(shape, {kept}, [&](int64_t k, const auto& o) {
    double& value = x[static_cast<size_t>(k)];
    value -= sum[at(o)] / count[at(o)];
    squares[at(o)] += value * value;
  });
  forEachOffset<1>(shape, {kept}, [&](int64_t k, const auto& o) {
    x[static_cast<size_t>(k)] /= std::sqrt(squares[at(o)] / count[at(o)]) + 1e-9;
  });
  store(call.out(), x);
}

// Applies f to every line along the axis, in place.
template <class F>
void alongAxis(const Call& call, F f) {
  const int rank = call.in().shape.rank();
  const Line line(rank == 0 ? Shape{1} : call.in().shape, readers::readAxis(call.node.attributes, -1, rank));
  std::vector<double> x = load<double>(call.in()), values(static_cast<size_t>(line.size));
  if (line.size > 0)
    line.forEach([&](int64_t first, int64_t) {
      WorkCounter work;
      for (int64_t i = 0; i < line.size; ++i, work.pass(4))
        values[static_cast<size_t>(i)] = x[static_cast<size_t>(first + i * line.inner)];
      f(values);
      for (int64_t i = 0; i < line.size; ++i, work.pass(4))
        x[static_cast<size_t>(first + i * line.inner)] = values[static_cast<size_t>(i)];
    });
  store(call.out(), x);
}

void logSoftmaxLine(std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  WorkCounter work;
  for (const double value : values) {
    sum += std::exp(value - largest);
    work.pass(16);
  }
  const double shift = largest + std::log(sum);
  for (double& value : values) value -= shift;
}

void softmaxLine(std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  WorkCounter work;
  for (double& value : values) {
    sum += value = std::exp(value - largest);
    work.pass(16);
  }
  for (double& value : values) value /= sum;
}

void softmax(const Call& call) { alongAxis(call, softmaxLine); }

// Of bytes, along the last axis, in float32 between DequantizeLinear and QuantizeLinear. Inputs: x, its scale and zero
// point, and those of the result.
void quantizedSoftmax(const Call& call) {
  const auto number = [&](size_t input) { return static_cast<float>(loadScalar(call.in(input), 0)); };
  const float scale = number(1), zero = number(2), resultScale = number(3);
  const double resultZero = loadScalar(call.in(4), 0);
  const readers::QuantizedRange range(Attributes(), call.out().dtype);
  alongAxis(call, [&](std::vector<double>& values) {
    WorkCounter work;
    for (double& value : values) {
      value = (static_cast<float>(value) - zero) * scale;
      work.pass(2);
    }
    softmaxLine(values);
    for (double& value : values) {
      value = requantized(1, static_cast<float>(value) / resultScale) + resultZero;
      value = std::min<double>(std::max<double>(range.low, value), range.high);
      work.pass(4);
    }
  });
}

void logSoftmax(const Call& call) { alongAxis(call, logSoftmaxLine); }

void hardmax(const Call& call) {
  alongAxis(call, [](std::vector<double>& values) {
    const size_t best = static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    for (size_t i = 0; i < values.size(); ++i) values[i] = i == best;
  });
}

const OpRow kRows[] = {
    {"", "BatchNormalization", kReference<batchNormalization>},
    {"", "LayerNormalization", kReference<layerNormalization>},
    {"", "RMSNormalization", kReference<rmsNormalization>},
    {"", "InstanceNormalization", kReference<instanceNormalization>},
    {"", "GroupNormalization", kReference<groupNormalization>},
    {"", "LRN", kReference<localResponseNormalization>},
    {"", "LpNormalization", kReference<lpNormalization>},
    {"", "MeanVarianceNormalization", kReference<meanVarianceNormalization>},
    {kMaxDomain, "AddLayerNormalization", kReference<addLayerNormalization>},
    {"", "Softmax", kReference<softmax>},
    {"", "LogSoftmax", kReference<logSoftmax>},
    {"", "Hardmax", kReference<hardmax>},
    {kMaxDomain, "QLinearSoftmax", kReference<quantizedSoftmax>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceNormOps() { return reference::kRows; }

}  // namespace max
