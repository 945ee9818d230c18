// SPDX-License-Identifier: Apache-2.0
// DFT, STFT and MelWeightMatrix, written as plain sums.
#include "graph/readers/signal.h"

#include <numbers>

#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// The sums take quadratic time; longer transforms are left to the fast kernels.
constexpr int64_t kLongest = 4096;

struct Complex {
  double real = 0, imaginary = 0;
};

// Element k of the transform of `values`.
Complex transformed(const std::vector<Complex>& values, int64_t k, double sign) {
  const int64_t n = static_cast<int64_t>(values.size());
  Complex sum;
  WorkCounter work;
  for (int64_t i = 0; i < n; ++i, work.pass(64)) {
    const double angle = sign * 2 * std::numbers::pi * static_cast<double>(k * i % n) / static_cast<double>(n);
    const double c = std::cos(angle), s = std::sin(angle);
    const Complex& value = values[static_cast<size_t>(i)];
    sum.real += value.real * c - value.imaginary * s;
    sum.imaginary += value.real * s + value.imaginary * c;
  }
  return sum;
}

// The second half of a spectrum of real numbers mirrors the first.
void mirror(std::vector<Complex>& values) {
  const size_t n = values.size();
  values[0].imaginary = 0;
  if (n % 2 == 0) values[n / 2].imaginary = 0;
  for (size_t k = n / 2 + 1; k < n; ++k) values[k] = {values[n - k].real, -values[n - k].imaginary};
}

void dft(const Call& call) {
  const Shape &shape = call.in().shape, &out = call.out().shape;
  const readers::Transform transform = readers::readTransform(*call.read());
  const bool inverse = transform.isInverse, oneSided = transform.isOneSided;
  const int at = transform.axis.value();
  const int64_t parts = shape.back(), outParts = out.back(), inner = shape.product(at + 1, shape.rank() - 1);
  const int64_t size = shape[at], outSize = out[at];
  const int64_t given = transform.length.value().value();
  const std::vector<double> x = load<double>(call.in());
  std::vector<double> y = repeated<double>(call.out().count());
  for (int64_t line = 0; line < shape.product(0, at) * inner; ++line) {
    const int64_t from = line / inner * size * inner + line % inner, to = line / inner * outSize * inner + line % inner;
    std::vector<Complex> values(static_cast<size_t>(given));
    const int64_t used = oneSided && inverse ? std::min(size, given / 2 + 1) : std::min(size, given);
    for (int64_t i = 0; i < used; ++i) {
      const double* value = x.data() + (from + i * inner) * parts;
      values[static_cast<size_t>(i)] = {value[0], parts == 2 ? value[1] : 0};
    }
    if (oneSided && inverse) mirror(values);
    const double scale = inverse ? 1 / static_cast<double>(given) : 1;
    for (int64_t k = 0; k < outSize; ++k, passWork(64 * given)) {
      const Complex sum = transformed(values, k, inverse ? 1 : -1);
      double* target = y.data() + (to + k * inner) * outParts;
      target[0] = sum.real * scale;
      if (outParts == 2) target[1] = sum.imaginary * scale;
    }
  }
  store(call.out(), y);
}

void stft(const Call& call) {
  const Shape &signal = call.in().shape, &out = call.out().shape;
  const readers::Frames read = readers::readFrames(*call.read());
  const int64_t step = read.step.value().value(), length = read.length.value().value(),
                parts = signal.product(2, signal.rank());
  const std::vector<double> x = load<double>(call.in());
  const std::vector<double> window =
      call.has(2) ? load<double>(call.in(2)) : std::vector<double>(static_cast<size_t>(length), 1);
  std::vector<double> y;
  for (int64_t frame = 0; frame < out[0] * out[1]; ++frame) {
    const double* start = x.data() + (frame / out[1] * signal[1] + frame % out[1] * step) * parts;
    std::vector<Complex> values(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<size_t>(i);
      values[at] = {start[i * parts] * window[at], parts == 2 ? start[i * parts + 1] * window[at] : 0};
    }
    for (int64_t k = 0; k < out[2]; ++k, passWork(64 * length)) {
      const Complex sum = transformed(values, k, -1);
      y.push_back(sum.real);
      y.push_back(sum.imaginary);
    }
  }
  store(call.out(), y);
}

bool isShort(const OpRequest& request) {
  if (!hasBasicDTypes(request)) return false;
  for (const Operand* operand : {&request.inputs[0], &request.outputs[0]})
    for (int i = 1; i < operand->shape.rank(); ++i)
      if (operand->shape[i - 1] > kLongest && request.node.is("DFT")) return false;
  return request.node.is("DFT") || request.outputs[0].shape[2] <= kLongest;
}

double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertzOf(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

void melWeightMatrix(const Call& call) {
  const int64_t bins = call.out().shape[1], rows = call.out().shape[0];
  const double length = loadScalar(call.in(1), 0), rate = loadScalar(call.in(2), 0);
  const double low = melOf(loadScalar(call.in(3), 0)), high = melOf(loadScalar(call.in(4), 0));
  const double step = (high - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i, passWork(64)) {
    const double edge = std::floor((length + 1) * hertzOf(low + static_cast<double>(i) * step) / rate);
    if (!(edge >= 0 && edge < static_cast<double>(rows)))
      call.fail(MAX_STATUS_INVALID_ARGUMENT, "edge ", i, " of the mel bands lies in bin ", edge, " of ", rows);
    edges.push_back(static_cast<int64_t>(edge));
  }
  std::vector<double> weights(static_cast<size_t>(rows * bins));
  for (int64_t band = 0; band < bins; ++band) {
    const auto i = static_cast<size_t>(band);
    const int64_t from = edges[i], center = edges[i + 1], to = edges[i + 2];
    const auto at = [&](int64_t row) -> double& { return weights[static_cast<size_t>(row * bins + band)]; };
    at(center) = 1;
    passWork(64 + 16 * (to - from));
    for (int64_t row = from; row < center; ++row)
      at(row) = static_cast<double>(row - from) / static_cast<double>(center - from);
    for (int64_t row = center; row < to; ++row)
      at(row) = static_cast<double>(to - row) / static_cast<double>(to - center);
  }
  store(call.out(), weights);
}

const OpRow kRows[] = {
    {"", "DFT", kReference<dft, isShort>},
    {"", "STFT", kReference<stft, isShort>},
    {"", "MelWeightMatrix", kReference<melWeightMatrix>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceSignalOps() { return reference::kRows; }

}  // namespace max
