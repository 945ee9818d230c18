// SPDX-License-Identifier: Apache-2.0
// max.MoE and max.QMoE, token by token.
#include "graph/readers/experts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// The weights [experts, columns, depth] of one layer, and its bias.
struct Layer {
  std::vector<double> weights, bias;
  int64_t columns = 0, depth = 0;

  std::vector<double> times(int64_t expert, const double* row) const {
    std::vector<double> result(static_cast<size_t>(columns));
    WorkCounter work;
    for (int64_t n = 0; n < columns; ++n, work.pass(2 * depth)) {
      double& sum = result[static_cast<size_t>(n)];
      for (int64_t k = 0; k < depth; ++k)
        sum += weights[static_cast<size_t>((expert * columns + n) * depth + k)] * row[k];
      if (!bias.empty()) sum += bias[static_cast<size_t>(expert * columns + n)];
    }
    return result;
  }
};

std::vector<double> optional(const Call& call, size_t input) {
  return call.has(input) ? load<double>(call.in(input)) : std::vector<double>();
}

Layer realLayer(const Call& call, size_t weights) {
  if (!call.has(weights)) return {};
  const Shape& shape = call.in(weights).shape;
  return {load<double>(call.in(weights)), optional(call, weights + 1), shape[1], shape[2]};
}

double numberAt(const std::vector<double>& bytes, int64_t row, int64_t rowBits, int64_t i, int64_t bits) {
  const int64_t bit = row * rowBits + i * bits;
  return (static_cast<int64_t>(bytes[static_cast<size_t>(bit / 8)]) >> (bit % 8)) & ((1 << bits) - 1);
}

struct Places {
  readers::ExpertLayer layer;
  size_t weights, zeros;  // scales and bias follow the weights
};

Layer quantisedLayer(const Call& call, const Places& places) {
  if (!call.has(places.weights)) return {};
  const readers::ExpertWeights read(call.node.attributes, places.layer);
  const int64_t bits = read.bits;
  const Shape& shape = call.in(places.weights).shape;
  const int64_t rows = shape[0] * shape[1], rowBits = shape[2] * 8, depth = rowBits / bits;
  const int64_t given = read.block, block = given > 0 ? given : std::max<int64_t>(depth, 1);
  const int64_t blocks = given > 0 ? depth / block : 1;
  const std::vector<double> bytes = load<double>(call.in(places.weights)), zeros = optional(call, places.zeros),
                            scales = load<double>(call.in(places.weights + 1));
  Layer layer{std::vector<double>(static_cast<size_t>(rows * depth)), optional(call, places.weights + 2), shape[1],
              depth};
  const int64_t zeroBits = alignUp((given > 0 ? blocks : shape[1]) * bits, 8);
  WorkCounter work;
  for (int64_t i = 0; i < rows * depth; ++i, work.pass(16)) {
    const int64_t row = i / depth, at = i % depth / block;
    double zero = 1 << (bits - 1);
    if (!zeros.empty())
      zero = given > 0 ? numberAt(zeros, row, zeroBits, at, bits)
                       : numberAt(zeros, row / shape[1], zeroBits, row % shape[1], bits);
    layer.weights[static_cast<size_t>(i)] =
        (numberAt(bytes, row, rowBits, i % depth, bits) - zero) * scales[static_cast<size_t>(row * blocks + at)];
  }
  return layer;
}

double activated(const readers::Experts& options, double x) {
  if (options.activation == readers::ExpertActivation::Relu) return std::max(x, 0.0);
  if (options.activation == readers::ExpertActivation::Silu) return x / (1 + std::exp(-x));
  if (options.activation == readers::ExpertActivation::Identity) return x;
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

double swiGlu(const readers::Experts& options, double gate, double linear) {
  const double limit = options.limit, g = std::min(gate, limit), l = std::max(-limit, std::min(linear, limit));
  return g / (1 + std::exp(-options.alpha * g)) * (l + options.beta);
}

std::vector<double> between(const readers::Experts& options, std::vector<double> inner,
                            const std::vector<double>& linear) {
  if (options.isFused) {
    const size_t size = inner.size() / 2;
    for (size_t i = 0; i < size; ++i)
      inner[i] = options.isInterleaved ? swiGlu(options, inner[2 * i], inner[2 * i + 1])
                                       : swiGlu(options, inner[i], inner[size + i]);
    inner.resize(size);
    return inner;
  }
  for (size_t i = 0; i < inner.size(); ++i) {
    if (options.activation == readers::ExpertActivation::SwiGlu)
      inner[i] = swiGlu(options, inner[i], linear[i]);
    else
      inner[i] = activated(options, inner[i]) * (linear.empty() ? 1 : linear[i]);
  }
  return inner;
}

// The experts with the largest logits, one after the other. The last of equal ones comes first, NaN last.
std::vector<size_t> chosenExperts(const std::vector<double>& logits, int64_t count) {
  std::vector<size_t> chosen;
  std::vector<bool> isTaken(logits.size());
  while (static_cast<int64_t>(chosen.size()) < count) {
    std::optional<size_t> best;
    for (size_t i = 0; i < logits.size(); ++i) {
      if (isTaken[i]) continue;
      const auto key = [&](size_t k) { return std::isnan(logits[k]) ? -double{INFINITY} : logits[k]; };
      if (!best || key(i) >= key(*best)) best = i;
    }
    isTaken[best.value()] = true;
    chosen.push_back(*best);
  }
  return chosen;
}

// SparseMixer: the softmax of the expert among those that come close to it; better ones do not take part any more.
double sparseWeight(const std::vector<double>& logits, const std::vector<size_t>& chosen, size_t number) {
  constexpr double kJitter = 0.01;
  const double best = logits[chosen[number]];
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const bool isBetter = std::find(chosen.begin(), chosen.begin() + static_cast<ptrdiff_t>(number), i) !=
                          chosen.begin() + static_cast<ptrdiff_t>(number);
    const bool isClose = (best - logits[i]) / std::max(std::abs(logits[i]), best) <= 2 * kJitter;
    if (!isBetter && (isClose || i == chosen[number])) sum += std::exp(logits[i] - best);
  }
  return 1 / sum;
}

// What the results of the chosen experts are multiplied by. The softmax of the logits mixes, unless weights are given.
std::vector<double> mixingWeights(const readers::Experts& options, const std::vector<double>& logits,
                                  const std::vector<double>& given, const std::vector<size_t>& chosen) {
  std::vector<double> weights;
  if (options.isSparseMixer) {
    for (size_t i = 0; i < chosen.size(); ++i) weights.push_back(sparseWeight(logits, chosen, i));
    return weights;
  }
  const double largest = logits[chosen[0]];
  double all = 0, ofChosen = 0;
  for (const double logit : logits) all += std::exp(logit - largest);
  for (const size_t i : chosen)
    ofChosen += weights.emplace_back(given.empty() ? std::exp(logits[i] - largest) : given[i]);
  const double sum = options.normalizes ? ofChosen : given.empty() ? all : 1;
  for (double& weight : weights) weight /= sum;
  return weights;
}

void experts(const Call& call, const Layer& first, const Layer& second, const Layer& third, size_t mixingInput) {
  const readers::Experts options(call.node.attributes);
  const int64_t tokens = call.in(1).shape[0], count = call.in(1).shape[1], hidden = call.in().shape.back();
  const std::vector<double> x = load<double>(call.in());
  const std::vector<double> router = load<double>(call.in(1)), mixing = optional(call, mixingInput);
  const auto rowOf = [count](const std::vector<double>& all, int64_t token) {
    return all.empty() ? all : std::vector<double>(all.begin() + token * count, all.begin() + (token + 1) * count);
  };
  std::vector<double> out(x.size());
  for (int64_t t = 0; t < tokens; ++t) {
    const double* row = x.data() + t * hidden;
    const std::vector<double> logits = rowOf(router, t);
    const std::vector<size_t> chosen = chosenExperts(logits, options.chosen);
    const std::vector<double> weights = mixingWeights(options, logits, rowOf(mixing, t), chosen);
    passWork(8 * count * options.chosen);
    for (size_t i = 0; i < chosen.size(); ++i, passWork(hidden + 64)) {
      const std::vector<double> linear =
          third.columns ? third.times(static_cast<int64_t>(chosen[i]), row) : std::vector<double>();
      const std::vector<double> inner = between(options, first.times(static_cast<int64_t>(chosen[i]), row), linear);
      const std::vector<double> result = second.times(static_cast<int64_t>(chosen[i]), inner.data());
      for (int64_t k = 0; k < hidden; ++k)
        out[static_cast<size_t>(t * hidden + k)] += weights[i] * result[static_cast<size_t>(k)];
    }
  }
  store(call.out(), out);
}

void mixture(const Call& call) { experts(call, realLayer(call, 2), realLayer(call, 4), realLayer(call, 6), 8); }

void quantisedMixture(const Call& call) {
  experts(call, quantisedLayer(call, {readers::ExpertLayer::First, 2, 11}),
          quantisedLayer(call, {readers::ExpertLayer::Second, 5, 12}),
          quantisedLayer(call, {readers::ExpertLayer::Third, 8, 13}), 14);
}

const OpRow kRows[] = {
    {kMaxDomain, "MoE", kReference<mixture>},
    {kMaxDomain, "QMoE", kReference<quantisedMixture>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceExpertOps() { return reference::kRows; }

}  // namespace max
