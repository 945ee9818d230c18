// SPDX-License-Identifier: Apache-2.0
// LinearAttention, CausalConvWithState, max.Attention, max.Rotary.
#include "graph/readers/attention.h"

#include <algorithm>

#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// One head: every token decays, corrects and reads a state [depth, width].
struct Head {
  int64_t depth, width;
  double* state;

  void decay(int64_t i, double factor) {
    for (int64_t j = 0; j < width; ++j) state[i * width + j] *= factor;
  }
  double read(const double* vector, int64_t j) const {
    double sum = 0;
    for (int64_t i = 0; i < depth; ++i) sum += vector[i] * state[i * width + j];
    return sum;
  }
  void write(const double* key, const std::vector<double>& value) {
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t j = 0; j < width; ++j) state[i * width + j] += key[i] * value[static_cast<size_t>(j)];
  }
};

void linearAttention(const Call& call) {
  const readers::LinearAttention attention(call.node.attributes);
  const int64_t queryHeads = attention.queryHeads, heads = attention.heads;
  const int64_t batch = call.in(0).shape[0], steps = call.in(0).shape[1], shared = queryHeads / heads;
  const int64_t depth = call.in(0).shape[2] / queryHeads, width = call.in(2).shape[2] / heads;
  const std::vector<double> q = load<double>(call.in(0)), k = load<double>(call.in(1)), v = load<double>(call.in(2));
  const std::vector<double> gates = call.has(4) ? load<double>(call.in(4)) : std::vector<double>();
  const std::vector<double> rates = call.has(5) ? load<double>(call.in(5)) : std::vector<double>();
  const int64_t gatesPerStep = call.has(4) ? call.in(4).shape[2] : 0,
                ratesPerStep = call.has(5) ? call.in(5).shape[2] : 0;
  const double scale = attention.scale(depth);
  std::vector<double> states =
      call.has(3) ? load<double>(call.in(3)) : std::vector<double>(static_cast<size_t>(batch * heads * depth * width));
  std::vector<double> y(static_cast<size_t>(batch * steps * queryHeads * width));
  WorkCounter work;
  for (int64_t at = 0; at < batch * steps * heads; ++at) {
    const int64_t token = at / heads, h = at % heads;  // of all batches
    Head head{depth, width, states.data() + (token / steps * heads + h) * depth * width};
    const bool perHead = gatesPerStep == heads;
    for (int64_t i = 0; i < depth && gatesPerStep > 0; ++i)
      head.decay(i, std::exp(gates[static_cast<size_t>(token * gatesPerStep + (perHead ? h : h * depth + i))]));
    const double* key = k.data() + at * depth;
    std::vector<double> value(v.begin() + at * width, v.begin() + (at + 1) * width);
    for (int64_t j = 0; j < width && ratesPerStep > 0; ++j, work.pass(4 * depth)) {
      const double rate = rates[static_cast<size_t>(token * ratesPerStep + (ratesPerStep == 1 ? 0 : h))];
      value[static_cast<size_t>(j)] = rate * (value[static_cast<size_t>(j)] - head.read(key, j));
    }
    head.write(key, value);
    work.pass(2 * depth * width + 256);
    for (int64_t i = h * shared; i < (h + 1) * shared; ++i)
      for (int64_t j = 0; j < width; ++j, work.pass(4 * depth))
        y[static_cast<size_t>((token * queryHeads + i) * width + j)] =
            scale * head.read(q.data() + (token * queryHeads + i) * depth, j);
  }
  if (call.hasOutput(0)) store(call.out(0), y);
  if (call.hasOutput(1)) store(call.out(1), states);
}

void causalConv(const Call& call) {
  const Shape& shape = call.in().shape;
  const int64_t channels = shape[1], length = shape[2], kernel = call.in(1).shape[2], carried = kernel - 1;
  const bool isSilu = readers::readActivatesSilu(call.node.attributes);
  const std::vector<double> x = load<double>(call.in()), weights = load<double>(call.in(1));
  const std::vector<double> bias = call.has(2) ? load<double>(call.in(2)) : std::vector<double>();
  const std::vector<double> past =
      call.has(3) ? load<double>(call.in(3)) : std::vector<double>(static_cast<size_t>(shape[0] * channels * carried));
  std::vector<double> y, present;
  for (int64_t row = 0; row < shape[0] * channels; ++row) {
    const double* filter = weights.data() + row % channels * kernel;
    std::vector<double> line(past.begin() + row * carried, past.begin() + (row + 1) * carried);
    line.insert(line.end(), x.begin() + row * length, x.begin() + (row + 1) * length);
    WorkCounter work;
    for (int64_t i = 0; i < length; ++i, work.pass(8 + 2 * kernel)) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(row % channels)];
      for (int64_t tap = 0; tap < kernel; ++tap) sum += filter[tap] * line[static_cast<size_t>(i + tap)];
      y.push_back(isSilu ? sum / (1 + std::exp(-sum)) : sum);
    }
    present.insert(present.end(), line.end() - carried, line.end());
  }
  if (call.hasOutput(0)) store(call.out(0), y);
  if (call.hasOutput(1)) store(call.out(1), present);
}

// A tensor of [batch, heads, positions, size] in one of the layouts BHSD, BSHD, BHDS.
struct HeadTensor {
  Shape dims;  // B, H, S, D
  Shape strides;
  int64_t at(int64_t b, int64_t h, int64_t s, int64_t d) const {
    return b * strides[0] + h * strides[1] + s * strides[2] + d * strides[3];
  }
};

HeadTensor headTensor(const Shape& shape, const readers::HeadLayout& layout) {
  const Shape dense = contiguousStrides(shape);
  HeadTensor result;
  for (const int axis : layout.axes()) {
    result.dims.push(shape[axis]);
    result.strides.push(dense[axis]);
  }
  return result;
}

// With `zeroMasked`, fully masked rows give 0. The sink is an additional score without a weight.
void softmax(std::vector<double>& scores, bool zeroMasked, double sink) {
  double largest = sink;
  for (const double score : scores) largest = std::max(largest, score);
  if (zeroMasked && largest == -INFINITY) return std::fill(scores.begin(), scores.end(), 0.0);
  double sum = sink == -INFINITY ? 0 : std::exp(sink - largest);
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

// The value added to a score; a mask of bool keeps true elements.
std::vector<double> maskOf(const Call& call) {
  if (!call.has(3)) return {};
  std::vector<double> mask = load<double>(call.in(3));
  if (call.in(3).dtype == DType::Bool)
    for (double& value : mask) value = value != 0 ? 0 : -INFINITY;
  return mask;
}

void attention(const Call& call) {
  const readers::Attention attention(call.node.attributes);
  const HeadTensor q = headTensor(call.in(0).shape, attention.queries),
                   k = headTensor(call.in(1).shape, attention.keys), v = headTensor(call.in(2).shape, attention.values),
                   out = headTensor(call.out().shape, attention.output);
  const std::vector<double> queries = load<double>(call.in(0)), keys = load<double>(call.in(1)),
                            values = load<double>(call.in(2));
  const std::vector<double> mask = maskOf(call), sinks = call.has(4) ? load<double>(call.in(4)) : std::vector<double>();
  const int64_t keyCount = k.dims[2];
  const Shape maskStrides =
      broadcastStrides(call.has(3) ? call.in(3).shape : Shape(), {q.dims[0], q.dims[1], q.dims[2], keyCount});
  const auto scale = static_cast<double>(attention.scale);
  const int64_t group = k.dims[1] > 0 ? q.dims[1] / k.dims[1] : 1;
  std::vector<double> result = repeated<double>(call.out().count()), scores = repeated<double>(keyCount);
  const Shape rows{q.dims[0], q.dims[1], q.dims[2]};
  forEachOffset<1>(rows, {Shape(maskStrides.dims().first(3))}, [&](int64_t row, const auto& maskAt) {
    const int64_t s = row % rows[2], h = row / rows[2] % rows[1], b = row / rows[2] / rows[1];
    WorkCounter work;
    for (int64_t t = 0; t < keyCount; ++t, work.pass(8 * q.dims[3] + 16)) {
      double& score = scores[static_cast<size_t>(t)] = 0;
      for (int64_t d = 0; d < q.dims[3]; ++d)
        score += queries[static_cast<size_t>(q.at(b, h, s, d))] * keys[static_cast<size_t>(k.at(b, h / group, t, d))];
      score *= scale;
      if (!mask.empty()) score += mask[static_cast<size_t>(maskAt[0] + t * maskStrides[3])];
    }
    softmax(scores, attention.zeroesMasked, sinks.empty() ? -INFINITY : sinks[static_cast<size_t>(h)]);
    for (int64_t t = 0; t < keyCount; ++t, work.pass(8 * v.dims[3]))
      for (int64_t d = 0; d < v.dims[3]; ++d)
        result[static_cast<size_t>(out.at(b, h, s, d))] +=
            scores[static_cast<size_t>(t)] * values[static_cast<size_t>(v.at(b, h / group, t, d))];
  });
  store(call.out(), result);
}

// x cos + (-second half, first half of x) sin
void rotary(const Call& call) {
  const std::vector<double> x = load<double>(call.in(0)), cos = load<double>(call.in(1)),
                            sin = load<double>(call.in(2));
  const Shape& shape = call.in(0).shape;
  const readers::Rotary rotary(call.node.attributes);
  const bool isInterleaved = rotary.isInterleaved;
  const int64_t length = shape.back(), size = rotary.sizeOf(length), pairs = size / 2;
  const auto rowsOf = [](const Shape& all) { return Shape(all.dims().first(static_cast<size_t>(all.rank()) - 1)); };
  const Shape rows = rowsOf(shape);
  const auto stridesOf = [&](size_t input) { return broadcastStrides(rowsOf(call.in(input).shape), rows); };
  const auto angle = [&](const std::vector<double>& all, size_t input, int64_t row, int64_t i) {
    const int64_t width = call.in(input).shape.back();
    return all[static_cast<size_t>(row * width + (width == size ? i : isInterleaved ? i / 2 : i % pairs))];
  };
  std::vector<double> result = repeated<double>(call.out().count());
  forEachOffset<2>(rows, {stridesOf(1), stridesOf(2)}, [&](int64_t row, const auto& at) {
    WorkCounter work;
    for (int64_t i = 0; i < length; ++i, work.pass(4)) {
      const int64_t place = row * length + i;
      result[static_cast<size_t>(place)] = x[static_cast<size_t>(place)];
      if (i >= size) continue;
      const bool isFirst = isInterleaved ? i % 2 == 0 : i < pairs;
      const int64_t apart = isInterleaved ? 1 : pairs;
      const double other = isFirst ? -x[static_cast<size_t>(place + apart)] : x[static_cast<size_t>(place - apart)];
      result[static_cast<size_t>(place)] =
          x[static_cast<size_t>(place)] * angle(cos, 1, at[0], i) + other * angle(sin, 2, at[1], i);
    }
  });
  store(call.out(), result);
}

const OpRow kRows[] = {
    {"", "LinearAttention", kReference<linearAttention>},
    {"", "CausalConvWithState", kReference<causalConv>},
    {kMaxDomain, "Attention", kReference<attention>},
    {kMaxDomain, "Rotary", kReference<rotary>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceAttentionOps() { return reference::kRows; }

}  // namespace max
