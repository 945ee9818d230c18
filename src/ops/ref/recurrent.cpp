// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: all directions, layouts, sequence lengths, initial states, peepholes, clipping.
#include "graph/readers/recurrent.h"

#include <algorithm>

#include "base/interrupt_point.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// Shared by the three layers: weights of one direction, shapes, and the loop over time.
struct Layer {
  const Call& call;
  readers::Recurrent reader;
  int64_t gates;
  bool batchFirst;
  int64_t steps, batch, inputSize, hidden, directions;
  std::vector<double> x, w, r, b;
  std::vector<int64_t> lengths;
  double clip;

  // Of all directions, in order.
  std::vector<Activation> activations(std::initializer_list<std::string_view> defaults) const {
    std::vector<Activation> result;
    for (const readers::CellFunction& function : reader.activations(call.node.attributes, std::span(defaults)))
      result.push_back({function.name, function.alpha, function.beta});
    return result;
  }

  Layer(const Call& c, int64_t gateCount)
      : call(c),
        reader(c.node.attributes),
        gates(gateCount),
        batchFirst(reader.isBatchFirst),
        steps(c.in().shape[batchFirst ? 1 : 0]),
        batch(c.in().shape[batchFirst ? 0 : 1]),
        inputSize(c.in().shape[2]),
        hidden(c.in(2).shape[2]),
        directions(c.in(1).shape[0]),
        x(load<double>(c.in(0))),
        w(load<double>(c.in(1))),
        r(load<double>(c.in(2))),
        b(c.has(3) ? load<double>(c.in(3)) : std::vector<double>(static_cast<size_t>(directions * 2 * gates * hidden))),
        lengths(c.has(4) ? loadIntegers(c.in(4)) : std::vector<int64_t>(static_cast<size_t>(batch), steps)),
        clip(static_cast<double>(reader.clip.value_or(INFINITY))) {
    for (const int64_t length : lengths)
      if (length < 0 || length > steps)
        call.fail(MAX_STATUS_OUT_OF_RANGE, "sequence length ", length, " is not in [0, ", steps, "]");
  }

  double clipped(double value) const { return std::clamp(value, -clip, clip); }
  bool isReverse(int64_t direction) const { return reader.isReverse || direction == 1; }
  const double* inputAt(int64_t step, int64_t item) const {
    return x.data() + (batchFirst ? item * steps + step : step * batch + item) * inputSize;
  }
  // Row `unit` of gate `gate`: W x, R h and the two biases.
  double fromInput(int64_t direction, int64_t gate, int64_t unit, const double* input) const {
    const double* row = w.data() + ((direction * gates + gate) * hidden + unit) * inputSize;
    double sum = 0;
    WorkCounter work;
    for (int64_t i = 0; i < inputSize; ++i, work.pass()) sum += row[i] * input[i];
    return sum;
  }
  double fromState(int64_t direction, int64_t gate, int64_t unit, const std::vector<double>& state) const {
    const double* row = r.data() + ((direction * gates + gate) * hidden + unit) * hidden;
    double sum = 0;
    WorkCounter work;
    for (int64_t i = 0; i < hidden; ++i, work.pass()) sum += row[i] * state[static_cast<size_t>(i)];
    return sum;
  }
  double inputBias(int64_t direction, int64_t gate, int64_t unit) const {
    return b[static_cast<size_t>((direction * 2 * gates + gate) * hidden + unit)];
  }
  double stateBias(int64_t direction, int64_t gate, int64_t unit) const {
    return b[static_cast<size_t>((direction * 2 * gates + gates + gate) * hidden + unit)];
  }
  // Start of the state of one direction and batch item.
  int64_t stateOffset(int64_t direction, int64_t item) const {
    return (batchFirst ? item * directions + direction : direction * batch + item) * hidden;
  }
  int64_t outputOffset(int64_t step, int64_t direction, int64_t item) const {
    return (batchFirst ? (item * steps + step) * directions + direction
                       : (step * directions + direction) * batch + item) *
           hidden;
  }
  std::vector<double> initialState(size_t input, int64_t direction, int64_t item) const {
    std::vector<double> state(static_cast<size_t>(hidden));
    if (!call.has(input)) return state;
    loadNumbers(call.in(input).dtype, call.in(input).data, stateOffset(direction, item), hidden, state.data());
    return state;
  }

  // Runs cell(direction, input, h, c) over all sequences and stores the outputs.
  template <class Cell>
  void run(Cell cell) const {
    std::vector<double> y(static_cast<size_t>(steps * directions * batch * hidden));
    std::vector<double> lastH(static_cast<size_t>(directions * batch * hidden)), lastC(lastH.size());
    for (int64_t direction = 0; direction < directions; ++direction)
      for (int64_t item = 0; item < batch; ++item, passWork(256 + hidden)) {
        std::vector<double> h = initialState(5, direction, item);
        std::vector<double> c = gates == 4 ? initialState(6, direction, item) : std::vector<double>(h.size());
        const int64_t length = lengths[static_cast<size_t>(item)];
        for (int64_t i = 0; i < length; ++i, passWork(256)) {
          const int64_t step = isReverse(direction) ? length - 1 - i : i;
          cell(direction, inputAt(step, item), h, c);
          std::copy(h.begin(), h.end(), y.begin() + outputOffset(step, direction, item));
        }
        std::copy(h.begin(), h.end(), lastH.begin() + stateOffset(direction, item));
        std::copy(c.begin(), c.end(), lastC.begin() + stateOffset(direction, item));
      }
    if (call.hasOutput(0)) store(call.out(0), y);
    if (call.hasOutput(1)) store(call.out(1), lastH);
    if (call.hasOutput(2)) store(call.out(2), lastC);
  }
};

void lstm(const Call& call) {
  const Layer layer(call, 4);
  const std::vector<Activation> f = layer.activations({"Sigmoid", "Tanh", "Tanh"});
  const std::vector<double> peepholes =
      call.has(7) ? load<double>(call.in(7))
                  : std::vector<double>(static_cast<size_t>(layer.directions * 3 * layer.hidden));
  const bool coupled = layer.reader.couplesGates;
  layer.run([&](int64_t direction, const double* input, std::vector<double>& h, std::vector<double>& c) {
    const Activation* act = f.data() + direction * 3;
    const std::vector<double> before = h;
    for (int64_t unit = 0; unit < layer.hidden; ++unit, passWork(4 * (layer.hidden + layer.inputSize) + 256)) {
      const auto gate = [&](int64_t g) {
        return layer.fromInput(direction, g, unit, input) + layer.fromState(direction, g, unit, before) +
               layer.inputBias(direction, g, unit) + layer.stateBias(direction, g, unit);
      };
      const auto peephole = [&](int64_t p) {
        return peepholes[static_cast<size_t>((direction * 3 + p) * layer.hidden + unit)];
      };
      double& cell = c[static_cast<size_t>(unit)];
      const double i = act[0](layer.clipped(gate(0) + peephole(0) * cell));
      const double forget = coupled ? 1 - i : act[0](layer.clipped(gate(2) + peephole(2) * cell));
      cell = forget * cell + i * act[1](layer.clipped(gate(3)));
      const double o = act[0](layer.clipped(gate(1) + peephole(1) * cell));
      h[static_cast<size_t>(unit)] = o * act[2](cell);
    }
  });
}

void gru(const Call& call) {
  const Layer layer(call, 3);
  const std::vector<Activation> f = layer.activations({"Sigmoid", "Tanh"});
  const bool linearBeforeReset = layer.reader.resetsLate;
  layer.run([&](int64_t direction, const double* input, std::vector<double>& h, std::vector<double>&) {
    const Activation* act = f.data() + direction * 2;
    std::vector<double> z(h.size()), reset(h.size()), gated(h.size()), next(h.size());
    for (int64_t unit = 0; unit < layer.hidden; ++unit, passWork(4 * (layer.hidden + layer.inputSize) + 256)) {
      const auto gate = [&](int64_t g) {
        return act[0](layer.clipped(layer.fromInput(direction, g, unit, input) +
                                    layer.fromState(direction, g, unit, h) + layer.inputBias(direction, g, unit) +
                                    layer.stateBias(direction, g, unit)));
      };
      const size_t u = static_cast<size_t>(unit);
      z[u] = gate(0);
      reset[u] = gate(1);
      gated[u] = reset[u] * h[u];
    }
    for (int64_t unit = 0; unit < layer.hidden; ++unit, passWork(4 * (layer.hidden + layer.inputSize) + 256)) {
      const size_t u = static_cast<size_t>(unit);
      const double bias = layer.stateBias(direction, 2, unit);
      const double state = linearBeforeReset ? reset[u] * (layer.fromState(direction, 2, unit, h) + bias)
                                             : layer.fromState(direction, 2, unit, gated) + bias;
      const double candidate = act[1](
          layer.clipped(layer.fromInput(direction, 2, unit, input) + layer.inputBias(direction, 2, unit) + state));
      next[u] = (1 - z[u]) * candidate + z[u] * h[u];
    }
    h = next;
  });
}

void rnn(const Call& call) {
  const Layer layer(call, 1);
  const std::vector<Activation> f = layer.activations({"Tanh"});
  layer.run([&](int64_t direction, const double* input, std::vector<double>& h, std::vector<double>&) {
    const std::vector<double> before = h;
    for (int64_t unit = 0; unit < layer.hidden; ++unit, passWork(layer.hidden + layer.inputSize + 64))
      h[static_cast<size_t>(unit)] = f[static_cast<size_t>(direction)](
          layer.clipped(layer.fromInput(direction, 0, unit, input) + layer.fromState(direction, 0, unit, before) +
                        layer.inputBias(direction, 0, unit) + layer.stateBias(direction, 0, unit)));
  });
}

const OpRow kRows[] = {
    {"", "LSTM", kReference<lstm>},
    {"", "GRU", kReference<gru>},
    {"", "RNN", kReference<rnn>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceRecurrentOps() { return reference::kRows; }

}  // namespace max
